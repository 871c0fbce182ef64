"""Reports of recordings that nobody chose: programs by a random recipe, recorded by perf, reported by kin and by perf.

    bench/run.sh BUILD unseen SEED...

A seed is a recipe: how many functions and threads a program has, how long its names are, how deep it calls, how many of
its calls are inlined, how its stacks are walked, how many events are counted, and how large its recording becomes (10 to
60 MB). The same seed makes the same program. Rows are those of the section "report"; the row that is furthest below its
goal comes first.
"""
import datetime
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "report")]
from bench import markdown  # noqa: E402
from report import Reports  # noqa: E402

MB = 1000 * 1000
WORDS = ("buffer cache channel decode encode entry filter handle index journal key lock map node offset packet queue record "
         "session table update value window zone").split()

BEGIN = """#include <cstdlib>
#include <ctime>
#include <pthread.h>
using u64 = unsigned long;
static __thread volatile u64 sum;
static __thread u64 state;
static u64 next() { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; }
"""

END = """
static double seconds;
static double used() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void *work(void *number)
{
	char name[] = "worker-A";
	name[7] += (u64)number % 26;
	pthread_setname_np(pthread_self(), name);
	for (state = (u64)number; used() < seconds;)
		FIRST(DEPTH - next() % (DEPTH / 2));
	return nullptr;
}
int main(int, char **argv)
{
	pthread_t threads[THREADS];
	seconds = atof(argv[1]) / THREADS;
	for (u64 i = 0; i < THREADS; i++)
		pthread_create(&threads[i], nullptr, work, (void *)(i + 1));
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
}
"""


@dataclass
class Recipe:
    functions: int
    name_words: int  # of a function's name, on average
    depth: int  # of calls
    threads: int
    inlined: float  # the share of functions that are inlined into others
    dump: int  # bytes of the stack that each sample copies; 0: chains by frame pointers
    events: list
    size: int  # bytes of the recording

    def __str__(self):
        return (f"{f'dwarf,{self.dump}' if self.dump else 'fp'}, {self.functions:,} functions, names of {self.name_words} words, "
                f"{self.depth} deep, {self.threads} threads, {len(self.events)} events")


def recipe(seed):
    r = random.Random(seed)
    return Recipe(functions=int(10 ** r.uniform(1.5, 3.7)), name_words=r.choice((1, 2, 4, 8, 20)), depth=int(10 ** r.uniform(0.8, 2)),
                  threads=r.choice((1, 1, 2, 5, 20)), inlined=r.uniform(0, 0.6), dump=r.choice((0, 0, 0, 2048, 4096, 8192)),
                  events=["cpu-clock", "task-clock", "page-faults"][:r.choice((1, 1, 2, 3))], size=int(r.uniform(10, 60) * MB))


def source(seed, recipe):
    """The program in C++. Its functions work a little, touch new memory now and then, and call one of a few others."""
    r = random.Random(seed + 1)

    def name(i):
        words = r.choices(WORDS, k=max(1, int(r.gauss(recipe.name_words, recipe.name_words / 3))))
        return "".join(f"{word}s::" for word in words[:-1:3]) + "_".join(words) + f"_{i}"

    def declare(name, how):
        space, _, short = name.rpartition("::")
        return f"namespace {space or 'top'} {{ {how} u64 {short}(u64 depth)"

    def define(name, how, then=""):
        work = f"for (u64 i = 0; i < {r.choice((2, 10, 50, 200))}; i++) sum = sum + i;"
        if r.random() < 0.1:
            work += " if (next() % 64 == 0) { auto p = (volatile char *)malloc(300000); *p = p[150000] = 1; free((void *)p); }"
        return declare(name, how) + f" {{ {work}{then} return sum + depth; }} }}\n"

    names = [name(i) for i in range(recipe.functions)]
    names = [n if "::" in n else "top::" + n for n in names]
    inlined, called = names[:int(recipe.functions * recipe.inlined)], names[int(recipe.functions * recipe.inlined):]
    text = BEGIN + "".join(declare(n, "") + "; }\n" for n in called)
    text += "".join(define(n, "static inline __attribute__((always_inline))") for n in inlined)
    for n in called:
        others = r.choices(called, k=r.choice((1, 2, 2, 3, 8)))
        calls = "".join(f" case {i}: sum = sum + ::{other}(depth - 1); break;" for i, other in enumerate(others))
        then = f" if (depth) switch (next() % {len(others)}) {{{calls} }}"
        text += define(n, "__attribute__((noinline))", (f" sum = sum + ::{r.choice(inlined)}(depth);" if inlined else "") + then)
    return text + END.replace("FIRST", f"::{called[0]}").replace("DEPTH", str(recipe.depth)).replace("THREADS", str(recipe.threads))


class Unseen(Reports):
    def record(self, seed, recipe):
        """The folder of the recording; None where perf may not record."""
        program, code = self.dir / f"unseen-{seed}", self.dir / f"unseen-{seed}.cc"
        text = source(seed, recipe)
        if not program.exists() or code.read_text() != text:
            code.write_text(text)
            compiler = os.environ.get("CXX", "c++").split()
            subprocess.run([*compiler, "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-o", program, code], check=True)
        rate = 2000 if recipe.dump else 20000
        each = recipe.dump + 200 if recipe.dump else 80 + 8 * recipe.depth * 3 // 4
        seconds = recipe.size / each / rate / min(len(recipe.events), 2)
        return self.recorded(f"unseen-{seed}", ["-F", str(rate), "--call-graph", f"dwarf,{recipe.dump}" if recipe.dump else "fp",
                                                *(word for event in recipe.events[1:] for word in ("-e", event))],
                             [program, f"{seconds:.2f}"])

    def rows_of(self, seed):
        r = recipe(seed)
        folder = self.record(seed, r)
        if not folder:
            return
        what = f"{seed}: {(folder / 'perf.data').stat().st_size // MB} MB, {r}"
        self.report(f"Self, {what}", folder, ["--no-children", "-g", "none"], 8)
        self.report(f"Children, {what}", folder, ["-g", "none"], 12)
        self.report(f"chains, {what}", folder, ["--no-inline"], 20)
        if r.dump:
            self.report(f"chains with inlined functions, {what}", folder, [], 12, runs=3)
        self.folded(what, folder)


def of_goal(row):
    """The median ratio by its goal, as both are written in the row."""
    return float(row.ratio.split(" / ")[1]) / float(row.goal.strip("≥ ×"))


def main():
    build, directory, words = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    u = Unseen(build, directory, False)
    for seed in [int(word) for word in words if word.isdigit()] or sys.exit("usage: bench/run.sh BUILD unseen SEED..."):
        u.rows_of(seed)
    u.table.rows.sort(key=of_goal)
    version = subprocess.run(["perf", "--version"], text=True, capture_output=True).stdout.strip()
    print(markdown(u.table, f"{datetime.date.today()}: peer: {version}; {os.cpu_count()} cores, load average at the start "
                    f"{os.getloadavg()[0]:.1f}.").replace("GNU gprof", "perf"))


if __name__ == "__main__":
    main()
