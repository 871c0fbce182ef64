"""Exports: the cost of writing 300,000 samples, in each format that kin writes samples in.

Started by bench/run.sh BUILD export. The recording is the one that report/gen.c makes up. The lower bound is
cp of a file of that size, in the same run: CPU time (user + system), the median of five.
"""
import os
import statistics
import subprocess
import sys
from pathlib import Path


SAMPLES, RUNS, GOAL = 300000, 5, 1
FORMATS = ["pprof", "callgrind", "speedscope", "firefox", "chrome-trace", "otlp", "perf.data", "folded", "json", "jsonl", "csv",
           "rowbinary"]


def timed(directory, *command):
    """CPU time in seconds, and the most memory, in MiB."""
    env = dict(os.environ, HOME=str(directory), LC_ALL="C")
    made = subprocess.run([directory / "timed", "/dev/null", *map(str, command)], text=True, capture_output=True, env=env)
    cpu, _, memory, status = map(int, made.stdout.split())
    if status:
        sys.exit(f"bench: {' '.join(map(str, command))}: {made.stderr[:500]}")
    return cpu / 1e6, memory / 1024


def row(kin, directory, data, name):
    out, copy = directory / f"exported.{name}", directory / "exported.copy"
    ours, least = [], []
    for _ in range(RUNS):
        out.unlink(missing_ok=True)  # kin replaces no recording by an export
        ours.append(timed(directory, kin, "export", f"--to={name}", "-o", out, data))
        least.append(timed(directory, "/bin/cp", out, copy)[0])
    cpu = statistics.median(t for t, _ in ours)
    text = (f"| `{name}` | {cpu:.2f} s ({min(t for t, _ in ours):.2f}–{max(t for t, _ in ours):.2f}) | {statistics.median(least):.2f} s "
            f"| {statistics.median(m for _, m in ours):.0f} MiB | {out.stat().st_size / 2**20:.1f} MiB "
            f"| ≤ {GOAL} s | {'yes' if cpu <= GOAL else '**no**'} |")
    out.unlink()
    copy.unlink()
    print(text, file=sys.stderr, flush=True)
    return text


def main():
    build, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder = directory / f"report-{SAMPLES}"
    if not (folder / "perf.data").exists():
        subprocess.run([directory / "gen_report", folder, str(SAMPLES)], check=True)
    lines = [f"{SAMPLES:,} samples made up, a perf.data of {(folder / 'perf.data').stat().st_size >> 20} MiB; load average at the "
             f"start {os.getloadavg()[0]:.1f}.", "",
             "| format | CPU time | copying the file alone | peak memory | file | goal | met |", "|" + "---|" * 7]
    lines += [row(build / "kin", directory, folder / "perf.data", name) for name in FORMATS]
    print("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
