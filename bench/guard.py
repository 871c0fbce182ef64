"""Compares the cost of kin's commands with a table, in counts that do not depend on the machine's load.

    guard.py BUILD            compare with guard.txt; TAP
    guard.py BUILD --renew    write guard.txt anew, and say what has changed

Of each command: instructions (valgrind's cachegrind), allocations (count_allocs.c), bytes read or
mapped from files (strace), and page faults. A point fails where a count is more than 3 % above the table's. Where it is more than
3 % below, a message says so: renew the table then, so that the gain cannot be lost unseen.

Instructions depend on the compiler, and page faults on the kernel's large pages: if these, valgrind, the C
library or the processor's vector instructions differ from the table's, all is skipped, with the reason. So is
a build with other options than those of "make".
"""
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "lib"))
import dumps  # noqa: E402
import gmonlib  # noqa: E402
from tap import Tap  # noqa: E402

TABLE = HERE / "guard.txt"
TOLERANCE = 0.03
COUNTS = ("instructions", "allocations", "bytes read", "page faults")
# Start-up reads the libraries: a page more or less of those is no change of kin's. Where threads meet, each may
# need memory of its own.
SLACK = {"instructions": 20000, "allocations": 8, "bytes read": 8192, "page faults": 100}

COMMANDS = {
    "gprof": "gprof -b big.elf big.gmon",
    "gprof -p": "gprof -b -p big.elf big.gmon",
    "report, table": "kin report -i perf.data --stdio --no-children -g none",
    "report, chains": "kin report -i perf.data --stdio",
    "report, dumps": "kin report -i dumps.data --stdio --no-inline",
    "report, folded": "kin script --folded perf.data",
    "lines": "kin lines work work.gmon",
    "graph": "kin graph perf.data",
    "info": "kin info perf.data",
    "merge": "kin merge -o sum.gmon sum.gmon.1 sum.gmon.2 sum.gmon.3 sum.gmon.4",
    "export": "kin export --to pprof -o out.pb perf.data",
    "script": "kin script -i perf.data",
}


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def environment(build):
    """What instructions depend on, besides the sources."""
    meson = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    options = {o["name"]: o["value"] for o in meson}
    compilers = re.findall(r"\]\s+(.*)", output("readelf", "-p", ".comment", str(build / "kin")))
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    pages = re.findall(r"\[(\w+)\]", pages.read_text()) if pages.exists() else ["none"]
    flags = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.M)
    return ", ".join((
        " ".join(compilers),
        f"-O{options['optimization']}" + (" whole program" if options["whole_program"] else "")
        + ("" if options["b_sanitize"] == "none" else " sanitized"),
        " ".join(platform.libc_ver()),
        output("valgrind", "--version").strip(),
        platform.machine() + (" avx2" if flags and " avx2" in flags[1] else ""),
        f"large pages: {pages[0]}"))


def compile_tools(where):
    cc, cxx = os.environ.get("CC", "cc").split(), os.environ.get("CXX", "c++").split()
    for command in (
            [*cc, "-O2", "-o", where / "gen", HERE / "gen.c"],
            [*cc, "-O2", "-o", where / "gen_report", HERE / "report" / "gen.c"],
            [*cc, "-O2", "-fPIC", "-shared", "-o", where / "count_allocs.so", HERE / "count_allocs.c"],
            [*cxx, "-O2", "-g", "-no-pie", "-o", where / "work", HERE / "report" / "work.cpp"]):
        subprocess.run(command, check=True)


def make_inputs(where):
    """Makes the inputs in `where`: always the same bytes, except for paths and the compiled work.cpp."""
    compile_tools(where)
    for command in (["./gen", "zipf", "4000", "big"], ["./gen", "-k", "4", "zipf", "2000", "sum"],
                    ["./gen_report", ".", "20000"]):
        subprocess.run(command, cwd=where, check=True)
    dumps.write(where / "dumps.data", 200)
    _, address, size = dumps.code_of((where / "work").read_bytes())
    low, high = address // 4 * 4, (address + size) // 4 * 4
    ticks = [i * 2654435761 >> 7 & 3 for i in range((high - low) // 4)]
    gmonlib.save(where / "work.gmon", gmonlib.gmon([gmonlib.Hist(low, high, ticks)]))


class Counter:
    def __init__(self, build, where):
        self.build, self.where = build, where
        # None of the caller's variables: they lie on the program's stack, and kin reads some of them.
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(where), "PAGER": "cat",
                    "KIN_CACHE": "off"}

    def run(self, before, command, **env):
        made = subprocess.run([*map(str, before), str(self.build / command[0]), *command[1:]],
                              cwd=self.where, env={**self.env, **env}, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        if made.returncode:
            sys.exit(f"guard: {' '.join(command)}: status {made.returncode}\n{made.stderr[-2000:]}")
        return made.stderr

    def instructions(self, command):
        told = self.run(["valgrind", "--tool=cachegrind", "--cache-sim=no",
                         "--cachegrind-out-file=/dev/null"], command)
        return sum(int(n.replace(",", "")) for n in re.findall(r"I\s+refs:\s+([\d,]+)", told))

    def allocations(self, command):
        counts = self.where / "allocations"
        counts.write_bytes(bytes(8))
        self.run(["env", f"LD_PRELOAD={self.where / 'count_allocs.so'}"], command,
                 COUNT_ALLOCS=str(counts))
        return struct.unpack("<Q", counts.read_bytes())[0]

    def bytes_read(self, command):
        trace = self.where / "trace"
        self.run(["strace", "-f", "-o", trace, "-e", "trace=read,pread64,readv,preadv,mmap"], command)
        total = 0
        for line in trace.read_text(errors="replace").splitlines():
            mapped = re.search(r"mmap\(\w+, (\d+), .*, (-?\d+), \w+\)\s+= 0x", line)
            read = re.search(r"(?:read|readv|pread64|preadv)\(.*\)\s+= (\d+)$", line)
            if mapped and int(mapped[2]) >= 0:
                total += int(mapped[1])
            elif read:
                total += int(read[1])
        return total

    def page_faults(self, command):
        """The least of some: with other programs at work the kernel may have no large page at hand."""
        def once():
            child = subprocess.Popen([str(self.build / command[0]), *command[1:]], cwd=self.where, env=self.env,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_minflt
        return min(once() for _ in range(5))

    def count(self, name):
        command = COMMANDS[name].split()
        return {"instructions": self.instructions(command), "allocations": self.allocations(command),
                "bytes read": self.bytes_read(command), "page faults": self.page_faults(command)}


def read_table():
    """The environment that the table was made in, and the counts of each command."""
    where, rows = "", {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("# of "):
            where = line[len("# of "):]
        elif line and not line.startswith("#"):
            name, *values = re.split(r"\s{2,}", line.strip())
            rows[name] = dict(zip(COUNTS, map(int, values)))
    return where, rows


def write_table(where, rows):
    lines = ['# What "bench/guard.py BUILD --renew" counted (see there).', f"# of {where}",
             f"# {'command':<14}" + "".join(f"  {c:>14}" for c in COUNTS)]
    lines += [f"{name:<16}" + "".join(f"  {counts[c]:>14}" for c in COUNTS)
              for name, counts in rows.items()]
    TABLE.write_text("\n".join(lines) + "\n")


def allowance(what, old):
    return max(TOLERANCE * old, SLACK[what])


def compare(tap, counter, rows):
    for name in COMMANDS:
        new, old = counter.count(name), rows.get(name, dict.fromkeys(COUNTS, 0))
        for c in COUNTS:
            tap.ok(new[c] <= old[c] + allowance(c, old[c]), f"{name}: {c}",
                   f"{old[c]} in the table, now {new[c]} ({percent(new[c], old[c])}); if that is meant: "
                   "bench/guard.py BUILD --renew")
            if new[c] < old[c] - allowance(c, old[c]):
                print(f"# {name}: {c}: {percent(new[c], old[c])}: bench/guard.py BUILD --renew keeps it")


def percent(new, old):
    return f"{100 * (new - old) / old:+.1f} %" if old else "new"


def renew(counter, where, rows):
    new = {}
    for name in COMMANDS:
        new[name] = counter.count(name)
        for c in COUNTS:
            old = rows.get(name, {}).get(c, 0)
            if abs(new[name][c] - old) > allowance(c, old):
                print(f"{name}: {c}: {old} -> {new[name][c]} ({percent(new[name][c], old)})", flush=True)
    write_table(where, new)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--renew"]):
        sys.exit("usage: guard.py BUILD [--renew]")
    build = Path(sys.argv[1]).resolve()
    if not (build / "meson-info").is_dir():
        sys.exit(f"guard.py: {build} is not a build: guard.py BUILD [--renew]")
    missing = [t for t in ("valgrind", "strace") if not shutil.which(t)]
    if missing:
        print(f"1..0 # SKIP {' and '.join(missing)} not installed")
        return 0
    here = environment(build)
    where, rows = read_table() if TABLE.exists() else ("", {})
    renewing = sys.argv[2:] == ["--renew"]
    if here != where and not renewing:
        print(f"1..0 # SKIP the table is of {where}; this is {here}")
        return 0
    folder = build / "guard"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    make_inputs(folder)
    counter = Counter(build, folder)
    if renewing:
        renew(counter, here, rows)
        return 0
    tap = Tap()
    compare(tap, counter, rows)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
