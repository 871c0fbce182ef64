"""Compares kin's gprof with the installed one: time, memory, and that both say the same.

Started by run.sh, which builds what this needs. Every comparison is a section: it runs both
programs in turn, several times, and each run's ratio is that of two neighbours, so that a busy
machine slows both. Times are user + system CPU unless a row says otherwise; standard output goes
to a file, and where the row says "equal", kin's output under --compat=gnu was compared with the
peer's, byte for byte.
"""

import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


@dataclass
class Run:
    cpu: float  # seconds
    wall: float
    memory: float  # MiB
    ok: bool


@dataclass
class Row:
    what: str
    peer: str = ""
    kin: str = ""
    ratio: str = ""
    memory: str = ""
    equal: str = ""
    goal: str = ""
    met: str = ""


@dataclass
class Table:
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def add(self, row):
        self.rows.append(row)
        print("  " + " | ".join(v for v in vars(row).values() if v), file=sys.stderr, flush=True)

    def note(self, text):
        self.notes.append(text)
        print("  note: " + text, file=sys.stderr, flush=True)


def seconds(values):
    """Median, and the range in brackets."""
    m = statistics.median(values)
    digits = 0 if m >= 100 else 2 if m >= 0.1 else 4
    text = f"{m:.{digits}f} s"
    if len(values) > 1:
        text += f" ({min(values):.{digits}f}–{max(values):.{digits}f})"
    return text


def spread(values):
    """Minimum / median / maximum."""
    def one(v):
        return f"{v:.0f}" if v >= 100 else f"{v:.1f}" if v >= 10 else f"{v:.2f}"
    return " / ".join(one(v) for v in (min(values), statistics.median(values), max(values)))


def same(a, b):
    with open(a, "rb") as fa, open(b, "rb") as fb:
        while True:
            x, y = fa.read(1 << 22), fb.read(1 << 22)
            if x != y:
                return False
            if not x:
                return True


class Bench:
    def __init__(self, build, directory, full):
        self.dir = directory
        self.full = full
        self.gprof = build / "gprof"
        self.kin = build / "kin"
        self.peer = Path(os.environ.get("PEER", "/usr/bin/gprof"))
        self.peer_new = os.environ.get("PEER_NEW")
        self.table = Table()
        for tool in (self.gprof, self.peer):
            if not os.access(tool, os.X_OK):
                sys.exit(f"bench: '{tool}' is not there: build kin first, or set PEER")

    def run(self, command, out, cwd=None):
        command = [str(c) for c in command]
        made = subprocess.run([self.dir / "timed", out, *command], cwd=cwd, text=True,
                              capture_output=True)
        fields = made.stdout.split()
        if len(fields) != 4:
            sys.exit(f"bench: {' '.join(command)[:200]}: {made.stderr[:500]}")
        cpu, wall, memory, status = map(int, fields)
        if status:
            self.table.note(f"`{' '.join(command)[:120]}` ended with status {status}: "
                            f"{made.stderr.strip()[:200]}")
        return Run(cpu / 1e6, wall / 1e6, memory / 1024, status == 0)

    def make(self, shape, n, options=()):
        """An input of gen, made once: the arguments for either gprof."""
        stem = self.dir / "-".join([shape, str(n), *(o.strip("-") for o in options)])
        if not Path(f"{stem}.done").exists():
            subprocess.run([self.dir / "gen", *options, shape, str(n), str(stem)], check=True)
            Path(f"{stem}.done").touch()
        return stem

    def pair(self, what, options, files, runs, peer_runs=None, peer=None, goal=0, metric="cpu",
             limit=None, memory_goal=None, compare=True):
        """`runs` runs of kin, next to as many of the peer, or fewer if that takes minutes."""
        peer = peer or self.peer
        peer_runs = peer_runs or runs
        out, peer_out = self.dir / "kin.out", self.dir / "peer.out"
        ours, theirs = [], []
        for i in range(runs):
            if i < peer_runs:
                theirs.append(self.run([peer, *options, *files], peer_out))
            ours.append(self.run([self.gprof, *options, *files], out))
        kin = [getattr(r, metric) for r in ours]
        other = [getattr(r, metric) for r in theirs]
        ratios = [other[min(i, len(other) - 1)] / k for i, k in enumerate(kin)]
        kin_memory = statistics.median(r.memory for r in ours)
        peer_memory = statistics.median(r.memory for r in theirs)

        row = Row(what, seconds(other), seconds(kin), spread(ratios),
                  f"{peer_memory:.0f} → {kin_memory:.0f} MiB")
        met = all(r.ok for r in ours)
        goals = []
        if goal:
            goals.append(f"≥ {goal}×")
            met &= statistics.median(ratios) >= goal
        if limit:
            goals.append(f"< {limit} s")
            met &= statistics.median(kin) < limit
        if memory_goal:
            goals.append(f"memory ≤ {memory_goal}×")
            met &= kin_memory <= memory_goal * peer_memory
        row.goal = ", ".join(goals)
        row.met = ("yes" if met else "**no**") if goals else ""
        if compare:
            self.run([self.gprof, "--compat=gnu", *options, *files], out)
            row.equal = "equal" if theirs[-1].ok and same(out, peer_out) else "**differs**"
        self.table.add(row)
        for path in (out, peer_out):
            path.unlink(missing_ok=True)

    # ---- sections ----

    def section_default(self):
        """Flat profile and call graph."""
        z = self.make("zipf", 20000)
        self.pair("default output, 20,000 functions", ["-b"], [f"{z}.elf", f"{z}.gmon"],
                  5 if self.full else 3, goal=20)
        z = self.make("zipf", 20000, ["-f", "-w", "105"])
        self.pair("default output, 20,000 functions with long names, no cycles", ["-b"],
                  [f"{z}.elf", f"{z}.gmon"], 5, goal=30)
        if self.full:
            z = self.make("zipf", 200000)
            self.pair("default output, 200,000 functions", ["-b"], [f"{z}.elf", f"{z}.gmon"], 5,
                      peer_runs=1, goal=200, limit=3, memory_goal=0.5)
            z = self.make("zipf", 100000)
            self.pair("default output, 100,000 functions", ["-b"], [f"{z}.elf", f"{z}.gmon"], 3,
                      peer_runs=1)

    def section_flat(self):
        """Flat profile alone."""
        n = 200000 if self.full else 20000
        z = self.make("zipf", n)
        self.pair(f"flat profile (`-p`), {n:,} functions", ["-b", "-p"],
                  [f"{z}.elf", f"{z}.gmon"], 5, peer_runs=1 if self.full else None,
                  limit=0.4 if self.full else None)

    def section_shapes(self):
        """A function of very many callees; a very long chain."""
        for shape, n in (("star", 40000 if self.full else 10000),
                         ("chain", 100000 if self.full else 10000)):
            z = self.make(shape, n)
            self.pair(f"default output, {shape} of {n:,}", ["-b"], [f"{z}.elf", f"{z}.gmon"],
                      3, peer_runs=1 if self.full else None)

    def section_scaling(self):
        """kin alone: how time grows. Output to /dev/null."""
        sizes = [2000, 20000, 200000] + ([2000000] if self.full else [])
        for options, what in ((["-b"], "default output"), (["-b", "-p"], "flat profile")):
            before = None
            for n in sizes:
                z = self.make("zipf", n)
                runs = [self.run([self.gprof, *options, f"{z}.elf", f"{z}.gmon"], "/dev/null")
                        for _ in range(3 if n > 500000 else 5)]
                cpu = [r.cpu for r in runs]
                row = Row(f"growth, {what}, {n:,} functions", kin=seconds(cpu),
                          memory=f"{statistics.median(r.memory for r in runs):.0f} MiB")
                now = min(cpu)
                if before:
                    self.held_to_n_log_n(row, before, (n, now))
                self.table.add(row)
                first = (n, now) if not before else first
                before = n, now
            row = Row(f"growth, {what}, from {first[0]:,} to {before[0]:,} functions")
            self.held_to_n_log_n(row, first, before)
            self.table.add(row)

    @staticmethod
    def held_to_n_log_n(row, before, now):
        """before, now: (number of functions, seconds)"""
        (m, t), (n, u) = before, now
        exponent = math.log(u / t) / math.log(n / m)
        allowed = math.log(n * math.log(n) / (m * math.log(m))) / math.log(n / m)
        row.ratio = f"n^{exponent:.2f}"
        row.goal = f"n log n: ≤ n^{allowed:.2f}"
        row.met = "yes" if exponent <= allowed else "**no**"

    def section_lines(self):
        """-l and -A on a real C++ program."""
        made = subprocess.run([HERE / "make_cxx.sh", self.dir / "cxx"], text=True,
                              stdout=sys.stderr, stderr=sys.stderr)
        if made.returncode:
            self.table.note("make_cxx.sh failed: no rows for -l and -A")
            return
        cxx = self.dir / "cxx" / "cxx"
        files = [cxx, f"{cxx}.gmon"]
        size = cxx.stat().st_size >> 20
        runs = 3 if self.full else 1
        for options, what, goal in (([], "default output", None),
                                    (["-l"], "by line (`-l`)", 20),
                                    (["-l", "-p"], "by line, flat (`-l -p`)", 20),
                                    (["-A"], "annotated source (`-A`)", 20)):
            options = ["-b", *options]
            what = f"{what}, C++ program of {size} MiB"
            self.pair(what, options, files, runs, peer_runs=1, goal=goal)
            if self.peer_new and "-l" in options:
                self.pair(f"{what}, against {self.peer_new}", options, files, runs, goal=1,
                          peer=Path(self.peer_new), compare=False)

    def section_sum(self):
        """Many gmon.out files into one."""
        k = 1000 if self.full else 50
        n = 5000  # GNU gprof 2.40 -s crashes on fewer functions without debug information
        z = self.make("zipf", n, ["-k", str(k)])
        names = [f"{z}.gmon.{i}" for i in range(1, k + 1)]
        commands = {
            "peer": [self.peer, "-s", f"{z}.elf", *names],
            "gprof": [self.gprof, "-s", f"{z}.elf", *names],
            "merge": [self.kin, "merge", "-o", "gmon.sum", *names],
        }
        where, runs = {}, {}
        for which in commands:
            where[which] = self.dir / f"sum-{which}"
            where[which].mkdir(exist_ok=True)
            (where[which] / "gmon.sum").unlink(missing_ok=True)
            runs[which] = []
        for _ in range(3):
            for which, command in commands.items():
                if os.access(command[0], os.X_OK):
                    runs[which].append(self.run(command, "/dev/null", cwd=where[which]))
        peer = runs["peer"]
        for which, what in (("gprof", f"`-s`, {k:,} files"), ("merge", f"`kin merge`, {k:,} files")):
            if not runs[which]:
                continue
            for metric, word, goal in (("wall", "elapsed", 10), ("cpu", "CPU", None)):
                ours = [getattr(r, metric) for r in runs[which]]
                theirs = [getattr(r, metric) for r in peer]
                ratios = [t / o for t, o in zip(theirs, ours)]
                row = Row(f"{what}, {n:,} functions each: {word}", seconds(theirs), seconds(ours),
                          spread(ratios),
                          f"{peer[0].memory:.0f} → {runs[which][0].memory:.0f} MiB",
                          goal=f"≥ {goal}×" if goal else "")
                if goal:
                    row.met = "yes" if statistics.median(ratios) >= goal else "**no**"
                    row.equal = self.sums_agree(which, f"{z}.elf", names, where["peer"],
                                                where[which])
                self.table.add(row)

    def sums_agree(self, which, elf, names, peer, ours):
        """`-s` under --compat=gnu: the same file, but for 12 bytes that GNU leaves unset. A sum in
        canonical order: the same lines, those that tie in another order."""
        if not all((where / "gmon.sum").exists() for where in (peer, ours)):
            return "**no gmon.sum**"
        if which == "gprof":
            self.run([self.gprof, "--compat=gnu", "-s", elf, *names], "/dev/null", cwd=ours)
            one, other = ((where / "gmon.sum").read_bytes() for where in (peer, ours))
            return "equal" if one[:8] + one[20:] == other[:8] + other[20:] else "**differs**"
        lines = []
        for where in (peer, ours):
            if not self.run([self.peer, "-b", elf, where / "gmon.sum"], where / "out").ok:
                return "**unreadable**"
            lines.append(sorted((where / "out").read_bytes().splitlines()))
        return "equal but for ties" if lines[0] == lines[1] else "**differs**"

    def section_small(self):
        """Start to finish, where nothing but starting costs anything."""
        case = HERE.parent / "test" / "cases" / "01-basic"
        if not (case / "prog").exists():
            self.table.note(f"{case} is not there: no row for a small program")
            return
        files = [case / "prog", case / "gmon.out"]
        for metric, word in (("wall", "elapsed"), ("cpu", "CPU")):
            self.pair(f"a small program, start to finish: {word}", ["-b"], files,
                      200 if self.full else 50, goal=1, metric=metric)


def build_type(bench):
    """As meson calls it; measuring a build without optimisation says nothing."""
    options = bench.gprof.parent / "meson-info" / "intro-buildoptions.json"
    if not options.exists():
        return "unknown"
    how = {o["name"]: o["value"] for o in json.loads(options.read_text())}
    if how.get("optimization") in ("0", "g") or how.get("b_sanitize", "none") != "none":
        bench.table.note(f"**{bench.gprof} was built without optimisation or with a sanitizer: its times "
                         "mean nothing.**")
    return f"{how.get('buildtype')} (-O{how.get('optimization')})"


def machine(bench):
    cpu = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    version = subprocess.run([bench.peer, "--version"], text=True, capture_output=True)
    load = os.getloadavg()[0]
    how = build_type(bench)
    return (f"{datetime.date.today()}: {os.cpu_count()} cores ({cpu}), {pages >> 30} GiB, Linux "
            f"{platform.release()}; peer: {version.stdout.splitlines()[0]}; load average at the "
            f"start {load:.1f}; kin built as {how}.")


def markdown(table, intro):
    head = ("what", "GNU gprof", "kin", "ratio min / median / max", "peak memory", "output",
            "goal", "met")
    lines = [intro, "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(vars(row).values()) + " |" for row in table.rows]
    lines += [""] + [f"- {n}" for n in table.notes] if table.notes else []
    return "\n".join(lines) + "\n"


def main():
    sections = [n[len("section_"):] for n in vars(Bench) if n.startswith("section_")]
    p = argparse.ArgumentParser(prog="bench/run.sh", description=__doc__)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--dir", type=Path, required=True)
    p.add_argument("words", nargs="*", metavar="quick|full|SECTION",
                   help="sections: " + ", ".join(sections))
    a = p.parse_args()
    wanted = [w for w in a.words if w not in ("quick", "full")] or sections
    unknown = [w for w in wanted if w not in sections]
    if unknown:
        p.error(f"no section '{unknown[0]}'; there are: {', '.join(sections)}")
    bench = Bench(a.build.resolve(), a.dir.resolve(), "full" in a.words)
    if not bench.full and wanted == sections:
        wanted = [w for w in sections if w != "lines"]  # needs a build of ten minutes
    intro = machine(bench)
    for name in wanted:
        print(f"{name}:", file=sys.stderr)
        getattr(bench, "section_" + name)()
    print(markdown(bench.table, intro))


if __name__ == "__main__":
    main()
