#!/usr/bin/env python3
"""perf.py BUILD [PROGRAMS] - perf.data as kin reads it next to "perf script": recordings made here.

Samples, their order, names, times, weights and stacks must be the same. Addresses are link-time ones
here and run-time ones there: their difference must be the same for an object in one process, and a
whole number of pages. Without perf, or where it may not record, all is skipped."""
import collections, os, re, shutil, subprocess, sys, tempfile

BUILD = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
count = failed = 0

RECUR = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static void __attribute__((noinline)) burn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * i; }
static void __attribute__((noinline)) even(unsigned n);
static void __attribute__((noinline)) odd(unsigned n) { burn(40000); if (n) even(n - 1); burn(1); }
static void __attribute__((noinline)) even(unsigned n) { burn(20000); if (n) odd(n - 1); burn(1); }
static int compare(const void *a, const void *b) { burn(20); return *(const int *)a - *(const int *)b; }
static void *thread(void *arg) {
	struct timespec t = { 0, 3000000 };
	for (int i = 0; i < 6; i++) { odd(9 + (unsigned)(long)arg); nanosleep(&t, NULL); }
	return NULL;
}
int main(int argc, char **argv) {
	pthread_t t[3]; static int v[6000];
	for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < 6000; i++) v[i] = (int)((unsigned)i * 2654435761u >> 8);
	qsort(v, 6000, sizeof(*v), compare);
	for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
	for (int i = 0; i < 4 && argc == 1; i++)
		if (!fork()) {
			even(30);
			if (i & 1) { execl("/proc/self/exe", "second", "x", NULL); }
			_exit(0);
		}
	while (wait(NULL) > 0) ;
	return (int)(argv[0][0] == 0);
}
"""


def tap(good, what, detail=""):
    global count, failed
    count += 1
    failed += not good
    print(("" if good else "not ") + f"ok {count} - {what}")
    if not good and detail:
        print("# " + detail.replace("\n", "\n# "))


def run(*cmd, **kw):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **kw)


def by_perf(path):
    """[(comm, pid, tid, time, weight, event), [(ip, object)]]"""
    r = run("perf", "script", "--no-inline", "--ns", "-i", path, "-F",
            "comm,pid,tid,time,period,event,ip,dso", stdin=subprocess.DEVNULL)
    samples = []
    head = re.compile(r"^(.*?)\s+(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+?):(?:\s+([0-9a-f]+) \((.*)\))?\s*$")
    # without a chain, the sample's own line has the only frame
    for line in r.stdout.decode(errors="replace").splitlines():
        m = head.match(line)
        if m:
            comm, pid, tid, s, ns, weight, event, ip, dso = m.groups()
            samples.append(((comm.strip(), int(pid), int(tid), int(s) * 10**9 + int(ns), int(weight), event),
                            [(int(ip, 16), dso)] if ip else []))
        elif line.strip():
            m = re.match(r"^\s*([0-9a-f]+) (?:\S.* )?\(([^()]*(?: \(deleted\))?)\)$", line)
            if m and samples:
                samples[-1][1].append((int(m[1], 16), m[2]))
            else:
                raise ValueError(f"cannot read what perf says: {line!r}")
    return samples


def by_kin(path):
    r = run(BUILD + "/test/print_samples", path)
    samples = []
    for line in r.stdout.decode(errors="replace").splitlines():
        if line.startswith("\t"):
            addr, obj, flags = line[1:].split(" ")[:3]
            samples[-1][1].append((int(addr, 16), obj, int(flags)))
        elif "\t" in line:
            comm, ids, _cpu, time, event, weight, kind, par = line.split("\t")
            pid, tid = ids.split("/")
            samples.append(((comm, int(pid), int(tid), int(time), int(weight), event), [], int(kind), int(par)))
    return samples, r


def same_object(kin, perf, execs=False):
    if kin == "-":
        return perf == "[unknown]" or execs
    if kin == "[kernel.kallsyms]":
        return perf in ("[kernel.kallsyms]", "[unknown]", "[guest.kernel.kallsyms]")
    return kin == perf or perf == "inlined"


def dumped(ours, theirs):
    """Of our frames those that perf has: it misses some at both ends. Its unwinder says one less for callers."""
    found, at = [], 0
    for ip, dso in theirs:
        while at < len(ours) and (ours[at][0] - ip) % 4096 not in (0, ours[at][2] & 1 and not ours[at][2] & 2):
            at += 1
        found += ours[at:at + 1]
        at += 1
    return found


def compare(name, path, loose=0, inner=0):
    """loose: share of samples whose stacks may differ, because perf's unwinder gives up elsewhere; inner: it is used."""
    kin, r = by_kin(path)
    perf = by_perf(path)
    tap(r.returncode == 0, f"{name}: read", r.stderr.decode())
    kin = [k for k in kin if k[2] == 0]
    tap(len(perf) > 20 and len(kin) == len(perf), f"{name}: {len(perf)} samples", f"kin {len(kin)}")
    heads = [(k[0], p[0]) for k, p in zip(kin, perf) if k[0] != p[0]]
    tap(not heads, f"{name}: who, when, how much", "\n".join(map(str, heads[:5])))
    bias, odd, bad = {}, [], []
    for k, p in zip(kin, perf):
        ours = dumped(k[1], p[1]) if inner else k[1]
        good = len(ours) == len(p[1])
        for i, ((addr, obj, flags), (ip, dso)) in enumerate(zip(ours, p[1])):
            # within exec(), the caller is in a program that is gone; perf keeps its mappings
            execs = bool(i > 0 and not flags & 1 and ours[i - 1][2] & 2)
            good &= same_object(obj, dso, execs)
            if obj == "-" and dso != "[unknown]":
                continue
            if good and obj.startswith("/"):
                ip += inner and flags & 1
                b = bias.setdefault((k[0][0], k[0][1], obj), ip - addr)
                if b != ip - addr or b % 4096:
                    odd.append((obj, hex(addr), hex(ip)))
            elif good and addr != ip + (inner and flags & 1 and obj == "-"):
                odd.append((obj, hex(addr), hex(ip)))
        if not good:
            bad.append((k, p))
    tap(len(bad) <= loose * len(perf), f"{name}: stacks", f"{len(bad)} of {len(perf)}\n" +
        "\n".join(f"{k}\n{p}" for k, p in bad[:2]))
    tap(not odd, f"{name}: addresses", "\n".join(map(str, odd[:5])))
    deep = sum(len(k[1]) > 3 for k in kin)
    tap(deep > len(kin) / 2 or "plain" in name, f"{name}: has stacks")
    return kin


def main():
    if not shutil.which("perf"):
        print("1..0 # SKIP no perf here: nothing was compared")
        return 0
    with tempfile.TemporaryDirectory(prefix="kin-perf.") as tmp:
        source, prog = tmp + "/work.c", tmp + "/work"
        open(source, "w").write(RECUR)
        subprocess.check_call(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-w", source, "-o", prog])
        base = ["perf", "record", "-q", "-F", "3000", "-N"]
        if run(*base, "-o", tmp + "/try", "--", "true").returncode:
            print("1..0 # SKIP perf may not record here: nothing was compared")
            return 0
        cases = {
            "plain": [],
            "frame pointers": ["-g"],
            "packed": ["-g", "-z"],
            "many events": ["-g", "-e", "cpu-clock,task-clock,page-faults"],
            "user only": ["-g", "-e", "cpu-clock:u"],
            "fixed period": ["-g", "-c", "500000", "-e", "task-clock"],
            "data mappings": ["-g", "-d"],
            "dumps": ["--call-graph", "dwarf,16384"],
        }
        for name, args in cases.items():
            path = tmp + "/" + name.replace(" ", "-") + ".data"
            cmd = [a for a in base if not (a == "-F" or a == "3000") or "-c" not in args] + args
            r = run(*cmd, "-o", path, "--", prog)
            if not os.path.exists(path):
                tap(False, f"{name}: recorded", r.stderr.decode())
                continue
            compare(name, path, *(0.05, 1) if name == "dumps" else (0, 0))
        path = tmp + "/pipe.data"
        with open(path, "wb") as out:
            subprocess.run(base + ["-g", "-o", "-", "--", prog], stdout=out, stderr=subprocess.DEVNULL)
        compare("pipe", path)
        path = tmp + "/switch.data"
        run(*base, "-g", "--switch-events", "-o", path, "--", prog)
        compare("switches", path)
        kin, r = by_kin(path)
        off = [k for k in kin if k[2] != 0]
        blocked = sum(k[0][4] for k in kin if k[2] == 1)
        tap(off and blocked > 3 * 6 * 2000000, "switches: three threads slept six times", str(blocked))
        tap(any(k[3] > 1 for k in kin) and all(k[3] >= 1 for k in kin if k[2] == 0), "switches: parallelism")
        # a recorder that was killed: the header has no sizes
        path = tmp + "/frame-pointers.data"
        data = bytearray(open(path, "rb").read())
        whole = by_kin(path)[0]
        start, size = (int.from_bytes(data[o:o + 8], "little") for o in (40, 48))
        data[48:56] = bytes(8)
        open(tmp + "/killed.data", "wb").write(data[:start + size])
        killed, r = by_kin(tmp + "/killed.data")
        tap(r.returncode == 0 and [k[0] for k in killed] == [k[0] for k in whole], "killed recorder: all that is there",
            r.stderr.decode())
    print(f"1..{count}")
    return failed != 0


sys.exit(main())
