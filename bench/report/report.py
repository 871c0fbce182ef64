"""Reports of samples: kin next to perf report, perf script and addr2line, on recordings made here.

Started by bench/run.sh BUILD report [full|many|large]. Both programs are run in turn on the same file; a ratio is
perf's CPU time (user + system, with the processes that it starts) by kin's, of two neighbouring runs.
Recordings: one that gen.c makes up, and those that perf makes of work.cpp, if it may.
"""
import datetime
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from bench import Row, Run, Table, markdown, seconds, spread  # noqa: E402

# The script that most people use, in Perl; it comes with neither perf nor Debian.
COLLAPSE_IN_PERL = os.environ.get("STACKCOLLAPSE")

# perf's own way to folded stacks is a script in Python, where perf was built with that.
COLLAPSE_OF_PERF = any(Path("/usr").glob("lib*/perf-core/scripts/python/stackcollapse.py"))

# stackcollapse-perf.pl for a recording of one program, in a faster language.
COLLAPSE = r"""/^[^ \t]/ { comm = $1; next }
/^$/ { if (stack != "") n[comm stack]++; stack = ""; next }
{ sub(/\+0x[0-9a-f]*$/, "", $2); stack = ";" $2 stack }
END { if (stack != "") n[comm stack]++; for (s in n) print s, n[s] }"""


class Reports:
    def __init__(self, build, directory, full):
        self.kin, self.dir, self.full = build / "kin", directory, full
        self.table = Table()

    def run(self, command, folder, first=True):
        """first: kin knows nothing of the programs yet."""
        env = dict(os.environ, HOME=str(self.dir), PERF_CONFIG="/dev/null", LC_ALL="C")
        program = shutil.which(command[0])
        if first:
            for kept in ("names", "sections"):
                shutil.rmtree(self.dir / ".cache" / "kin" / kept, ignore_errors=True)
        made = subprocess.run([self.dir / "timed", "/dev/null", program, *map(str, command[1:])], cwd=folder, text=True,
                              capture_output=True, env=env, stdin=subprocess.DEVNULL)
        fields = made.stdout.split()
        if len(fields) != 4:
            sys.exit(f"bench: {' '.join(map(str, command))[:200]}: {made.stderr[:500]}")
        cpu, wall, memory, status = map(int, fields)
        if status:
            self.table.note(f"`{' '.join(map(str, command))[:50]}` ended with status {status}")
        return Run(cpu / 1e6, wall / 1e6, memory / 1024, status == 0)

    def pair(self, what, folder, ours, theirs, goal, runs=None, metric="cpu", first=True):
        """Short runs are disturbed more, and repeated more often."""
        b, a = [self.run(theirs, folder)], [self.run(ours, folder, first)]
        runs = runs or (11 if b[0].wall < 3 else 7 if b[0].wall < 9 else 3)
        for _ in range(runs - 1):
            b.append(self.run(theirs, folder))
            a.append(self.run(ours, folder, first))
        ratios = [getattr(t, metric) / getattr(o, metric) for t, o in zip(b, a)]
        good = goal and statistics.median(ratios) >= goal and all(r.ok for r in a)
        self.table.add(Row(what, seconds([getattr(r, metric) for r in b]), seconds([getattr(r, metric) for r in a]),
                           spread(ratios),
                           f"{statistics.median(r.memory for r in b):.0f} → {statistics.median(r.memory for r in a):.0f} MiB",
                           "", f"≥ {goal}×" if goal else "", "yes" if good else "**no**" if goal else ""))

    def report(self, what, folder, options, goal, **how):
        self.pair(what, folder, [self.kin, "report", "--stdio", *options, "-i", "perf.data"],
                  ["perf", "report", "--stdio", *options, "-i", "perf.data"], goal, **how)

    def folded(self, what, folder):
        ours = [self.kin, "script", "--folded", "--no-inline", "perf.data"]
        if COLLAPSE_IN_PERL:
            self.pair(f"folded stacks, stackcollapse-perf.pl, {what}", folder, ours,
                      ["sh", "-c", f"perf script -i perf.data | perl '{COLLAPSE_IN_PERL}'"], 40)
        if COLLAPSE_OF_PERF:
            self.pair(f"folded stacks, {what}", folder, ours,
                      ["perf", "script", "-i", "perf.data", "report", "stackcollapse"], 40)
        script = f"perf script -i perf.data | awk '{COLLAPSE}'"
        self.pair(f"folded stacks, perf with awk, {what}", folder, ours, ["sh", "-c", script], 30)

    def rows_of(self, what, folder, options):
        what = f"{what}, {(folder / 'perf.data').stat().st_size >> 20} MiB"
        self.report(f"call chains, {what}", folder, options, 25)
        self.report(f"table alone (`-g none`), {what}", folder, [*options, "-g", "none"], 15)
        self.report(f"Self alone (`--no-children -g none`), {what}", folder, [*options, "--no-children", "-g", "none"], 5)
        self.folded(what, folder)

    # ---- recordings ----

    def made_up(self, n, deepest=28):
        folder = self.dir / (f"report-{n}" if deepest == 28 else f"report-{n}-{deepest}")
        if not (folder / "perf.data").exists():
            subprocess.run([self.dir / "gen_report", folder, str(n), str(deepest)], check=True)
        return folder

    def recorded(self, name, how, command, cwd=None):
        folder = self.dir / f"report-{name}"
        folder.mkdir(exist_ok=True)
        data = folder / "perf.data"
        if not data.exists() or data.stat().st_mtime < Path(command[0]).stat().st_mtime:
            command = ["perf", "record", "-q", "-e", "cpu-clock", *how, "-o", str(data), *map(str, command)]
            env = dict(os.environ, GMON_OUT_PREFIX=str(folder / "gmon"))
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, cwd=cwd, env=env)
            if done.returncode or not data.exists():
                self.table.note(f"perf may not record here: no rows for {name}")
                return None
        return folder

    def cppcheck(self):
        """cppcheck, which the rows on lines use as well (make_cxx.sh), checking one of its own files."""
        made = subprocess.run([HERE.parent / "make_cxx.sh", self.dir / "cxx"], capture_output=True)
        source = next((self.dir / "cxx").glob("cppcheck-*/lib"), None)
        if made.returncode or not source:
            self.table.note("make_cxx.sh failed: no rows for cppcheck")
            return None
        return self.recorded("cppcheck", ["-F", "4000", "-g"],
                             [self.dir / "cxx" / "cxx", "-q", "--std=c++11", "-Ilib", "lib/errorlogger.cpp"],
                             cwd=source.parent)

    def rust(self):
        """The Rust program of the rows on kin record, compiled with lines; None where there is no rustc."""
        path, source = self.dir / "work-rust", HERE.parent / "record" / "work.rs"
        if not shutil.which("rustc"):
            self.table.note("no rustc here: no rows for Rust")
            return None
        if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["rustc", "-O", "-g", "-o", path, source], check=True, capture_output=True)
        return path

    # ---- rows ----

    def made_up_rows(self):
        self.rows_of("300,000 samples made up", self.made_up(300000), [])
        self.rows_of("100,000 samples made up, 120 frames deep", self.made_up(100000, 132), [])

    def recorded_rows(self):
        folder = self.cppcheck()
        if folder:
            self.rows_of("cppcheck", folder, ["--no-inline"])
        work = self.dir / "work"
        folder = self.recorded("fp", ["-F", "20000", "-g"], [work, 16])
        if folder:
            self.rows_of("`work` with frame pointers", folder, ["--no-inline"])
        self.stack_dump_rows("`work` with stack dumps", "dwarf", 4096, [work, 4])
        rust = self.rust()
        if rust:
            self.stack_dump_rows("Rust with stack dumps", "rust", 8192, [rust, 2200])

    def stack_dump_rows(self, what, name, size, command):
        """size: of the copy of a stack, bytes."""
        folder = self.recorded(name, ["-F", "999", "--call-graph", f"dwarf,{size}"], command)
        if not folder:
            return
        what = f"{what}, {(folder / 'perf.data').stat().st_size >> 20} MiB"
        once = {"runs": 3 if self.full else 1}
        self.report(f"call chains with inlined functions: CPU, {what}", folder, [], 10, **once)
        self.report(f"call chains (`--no-inline`), {what}", folder, ["--no-inline"], 10)
        self.report(f"source lines (`-s srcline -g none`): elapsed, {what}", folder, ["-s", "srcline", "-g", "none"], 10,
                    metric="wall", **once)

    def large(self):
        """Large programs without symbols, whose names take longer to read than the samples; and kin lines next to kin flat."""
        source = self.dir / "large.cpp"
        source.write_text("#include <regex>\n#include <map>\nstd::map<std::string, std::regex> m;\n"
                          "bool f(const std::string &s) { return std::regex_match(s, m[s] = std::regex(s)); }\n")
        page = "data:text/html,<script>let s=0;for(let i=0;i<3e7;i++)s+=i%7;document.write(s)</script>" + "<p>x" * 3000
        programs = (("clang++", ["-O2", "-c", source, "-o", "/dev/null"]),
                    ("chromium", ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.dir}/chromium", "--dump-dom", page]))
        for name, words in programs:
            program = shutil.which(name)
            folder = program and self.recorded(name, ["-F", "2000", "-g"], [program, *words])
            for what, options in (("call chains", []), ("table alone (`-g none`)", ["-g", "none"])) if folder else ():
                self.report(f"{what}, {name}", folder, ["--no-inline", *options], 5)
                kin = [self.kin, "report", "--stdio", *options, "-i", "perf.data"]
                self.pair(f"{what}, {name}: first report by kin (in perf's column) and second", folder, kin, kin, 3, first=False)
        for name in ("300000", "fp", "dwarf"):
            folder = self.dir / f"report-{name}"
            if (folder / "perf.data").exists():
                self.pair(f"`kin flat` (in perf's column) and `kin lines`, {name}", folder,
                          [self.kin, "lines", "perf.data"], [self.kin, "flat", "perf.data"], None)

    def growth(self):
        before = None
        for n in [100000, 1000000] + ([10000000] if self.full else []):
            folder = self.made_up(n)
            runs = [self.run([self.kin, "report", "--stdio", "-i", "perf.data"], folder) for _ in range(3)]
            now, memory = min(r.cpu for r in runs), statistics.median(r.memory for r in runs)
            row = Row(f"growth, call chains, {n:,} samples", kin=seconds([r.cpu for r in runs]), memory=f"{memory:.0f} MiB")
            if before:
                m, t, kb = before
                time, space = (math.log(x) / math.log(n / m) for x in (now / t, memory / kb))
                row.ratio = f"time n^{time:.2f}, memory n^{space:.2f}"
                row.goal, row.met = "≤ n^1.1", "yes" if max(time, space) <= 1.1 else "**no**"
            self.table.add(row)
            before = n, now, memory

    def many(self):
        """Ten million samples, of which kin keeps the distinct stacks."""
        folder = self.made_up(10000000)
        for what, words, goal in (("call chains", ["report", "--stdio"], 4), ("table alone (`-g none`)", ["report", "--stdio", "-g", "none"], 1.2),
                                  ("Self alone", ["report", "--stdio", "--no-children", "-g", "none"], None),
                                  ("folded stacks", ["script", "--folded", "--no-inline"], 3)):
            runs = [self.run([self.kin, *words, "-i", "perf.data"], folder) for _ in range(5)]
            cpu, memory = statistics.median(r.cpu for r in runs), statistics.median(r.memory for r in runs)
            good = memory <= 300 and (not goal or cpu <= goal)
            self.table.add(Row(f"ten million samples, {what}", kin=seconds([r.cpu for r in runs]), memory=f"{memory:.0f} MiB",
                               goal=f"≤ {goal} s, 300 MiB" if goal else "≤ 300 MiB", met="yes" if good else "**no**"))
        self.report("ten million samples, Self alone, next to perf", folder, ["--no-children", "-g", "none"], 5, runs=3)
        self.report("ten million samples, table alone, next to perf", folder, ["-g", "none"], 15, runs=1)


def main():
    build, directory, words = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    if not shutil.which("perf"):
        sys.exit("bench: no perf to compare with")
    r = Reports(build, directory, "full" in words)
    rows = [r.made_up_rows, r.recorded_rows, r.growth, r.many] if r.full else [r.made_up_rows, r.recorded_rows, r.growth]
    for add in [r.many] if "many" in words else [r.large] if "large" in words else rows:
        add()
    version = subprocess.run(["perf", "--version"], text=True, capture_output=True).stdout.strip()
    text = markdown(r.table, f"{datetime.date.today()}: peer: {version}; {os.cpu_count()} cores, load average at the start {os.getloadavg()[0]:.1f}.")
    print(text.replace("GNU gprof", "perf"))


if __name__ == "__main__":
    main()
