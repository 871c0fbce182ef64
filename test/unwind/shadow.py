"""Stacks of real programs, as a tracer knows them that sees each call and return: shadow/shadow.c.

    shadow.py BUILD [--table FILE] [--points N] [PROGRAM...]

In no program may a walker name a caller that is none without a mark, or call a stack complete that has more callers. Without
options it goes through the programs that can be built here, in some 20 seconds. --table goes through all that are installed,
with N points each, and writes what was found into the table of a Markdown file.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

POINTS = 34000
VERDICTS = ['exact', 'cut', 'guessed', 'guessed wrong', 'false', 'contradicts']
WALKERS = {'record': '`kin record`', 'perf.data': 'perf.data', 'run': '`kin run`'}
SOURCES = {  # programs in other languages: each goes on until it is stopped
    'y.py': '''import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    a = sorted(str(fib(i % 12)) for i in range(100)); json.dumps(a); re.sub('1', '2', ''.join(a))
    try: raise ValueError
    except ValueError: pass
''',
    'p.pl': 'sub fib{my $n=shift; $n<2?$n:fib($n-1)+fib($n-2)}\n'
            'while(1){my @a=sort map{fib($_%12)}1..100; eval{die "x"}; my $s=join ",",@a; $s=~s/1/2/g;}\n',
    'r.rb': 'def fib(n) n<2 ? n : fib(n-1)+fib(n-2) end\nloop do a=(1..100).map{|i| fib(i%12).to_s}; a.sort!\n'
            'begin; raise "x"; rescue; end; f=Fiber.new{3.times{|i| Fiber.yield i}}; 3.times{f.resume}; a.join.gsub(/1/,"2") end\n',
    'l.lua': 'local function fib(n) if n<2 then return n end return fib(n-1)+fib(n-2) end\n'
             'while true do local t={} for i=1,100 do t[i]=tostring(fib(i%15)) end table.sort(t)\n'
             'local co=coroutine.wrap(function() for i=1,5 do coroutine.yield(i) end end) for i=1,5 do co() end\n'
             'pcall(error,"x") string.gsub("hello world","o","0") end\n',
    'n.js': 'function fib(n){return n<2?n:fib(n-1)+fib(n-2)}\nfor(;;){let a=[];for(let i=0;i<100;i++)a.push(String(fib(i%15)));'
            'a.sort();JSON.stringify(a);a.join().replace(/1/g,"2");try{throw new Error("x")}catch(e){}}\n',
    'a.awk': 'function fib(n){return n<2?n:fib(n-1)+fib(n-2)}\n'
             'BEGIN{while(1){for(i=0;i<100;i++){a[i]=fib(i%12);s=s a[i]} gsub(/1/,"2",s); s=""}}\n',
    's.sql': 'with recursive c(x) as (select 1 union all select x+1 from c where x<1000000000)\n'
             "select sum(x*x%7) from c where x like '%7%';\n",
    'b.php': '<?php function fib($n){return $n<2?$n:fib($n-1)+fib($n-2);}\nwhile(1){$a=[];for($i=0;$i<100;$i++)'
             '$a[]=strval(fib($i%12));sort($a);preg_replace("/1/","2",implode($a));try{throw new Exception("x");}catch(Exception $e){}}\n',
    'H.java': 'import java.util.*;\npublic class H { static int f(int n){return n<2?n:f(n-1)+f(n-2);}\n'
              'public static void main(String[] a){ Map<String,Integer> m=new HashMap<>(); long s=0; for(int i=0;;i++){\n'
              'm.put("k"+i%5000,f(i%15)); s+=m.get("k"+i%5000); if(i%1000==0) Collections.sort(new ArrayList<>(m.keySet()));\n'
              'if(s==-1) System.out.println(s); } } }\n',
    'g.go': 'package main\nimport ("fmt"; "sort"; "strings"; "sync")\n'
            'func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfunc main() { var wg sync.WaitGroup\n'
            'for g := 0; g < 4; g++ { wg.Add(1); go func(g int) { defer wg.Done(); for {\ns := make([]string, 0)\n'
            'for j := 0; j < 50; j++ { s = append(s, strings.Repeat("x", j)+fmt.Sprint(fib(j%12))) }\nsort.Strings(s)\n'
            'func() { defer func() { recover() }(); panic(g) }() } }(g) }; wg.Wait() }\n',
    'h.hs': 'import qualified Data.Map as M\nmain = print (M.foldr (+) 0 (foldr (\\i m -> M.insertWith (+) (i*7919 `mod` 10007) i m)\n'
            '  M.empty [1..100000000::Int]))\n',
    'm.c': open(os.path.join(HERE, 'shadow', 'plain.c')).read(),
    'cc.c': ''.join(f'int f{i}(int*a,int n){{int s=0;for(int i=0;i<n;i++){{if(a[i]&{i})s+=a[i]*{i};else s^=a[(i+{i})%n];'
                    'switch(s%5){case 0:s++;break;case 1:s*=3;case 2:s-=a[0];}}return s;}\n' for i in range(4000)),
}
EVENTS = os.path.join(HERE, 'shadow', 'events.cpp')
NO_TABLES = '-fno-asynchronous-unwind-tables -fno-unwind-tables'
# name: (title, command that builds it in the folder, command to trace)
PROGRAMS = {
    'events': ('signals, jumps, exceptions, coroutines, threads', f'g++ -w -O2 -static-pie -o events {EVENTS}', './events 100000'),
    'python': ('python3', '', f'{sys.executable} y.py'),
    'cc1': ("gcc's cc1", '', '{cc1} -quiet -O2 cc.c -o /dev/null'),
}
MORE = {
    'events_gcc': ('the same, gcc', f'g++ -w -O2 -o events_gcc {EVENTS}', './events_gcc 100000'),
    'events_clang': ('the same, clang', f'clang++ -w -O2 -o events_clang {EVENTS}', './events_clang 100000'),
    'events_lto': ('the same, clang with LTO', f'clang++ -w -O2 -flto -fuse-ld=lld -o events_lto {EVENTS}', './events_lto 100000'),
    'events_cet': ('the same, gcc with CET and LTO', f'g++ -w -O3 -flto -fcf-protection=full -o events_cet {EVENTS}', './events_cet 100000'),
    'events_retpolines': ('the same, gcc with retpolines',
                          f'g++ -w -O2 -mindirect-branch=thunk -fcf-protection=none -o events_retpolines {EVENTS}', './events_retpolines 100000'),
    'events_inline': ('the same, gcc -Os with inlined retpolines',
                      f'g++ -w -Os -mindirect-branch=thunk-inline -fcf-protection=none -o events_inline {EVENTS}', './events_inline 100000'),
    'events_clang_retpolines': ('the same, clang with retpolines', f'clang++ -w -O2 -mretpoline -o events_clang_retpolines {EVENTS}',
                                './events_clang_retpolines 100000'),
    'plain_notables': ('calls without tables, gcc', f'gcc -w -O2 {NO_TABLES} -o plain_notables m.c -lm', './plain_notables'),
    'plain_frames': ('the same with frame pointers', f'gcc -w -O2 {NO_TABLES} -fno-omit-frame-pointer -o plain_frames m.c -lm', './plain_frames'),
    'plain_clang': ('the same without, clang', f'clang -w -O2 {NO_TABLES} -o plain_clang m.c -lm', './plain_clang'),
    'plain_clang_os': ('the same, clang -Os', f'clang -w -Os {NO_TABLES} -o plain_clang_os m.c -lm', './plain_clang_os'),
    'plain_o0': ('the same, gcc -O0', f'gcc -w -O0 {NO_TABLES} -fomit-frame-pointer -o plain_o0 m.c -lm', './plain_o0'),
    'musl': ('a static program with musl', f'musl-gcc -O2 -static -w -o musl m.c', './musl'),
    'musl_dynamic': ('the same, dynamic', 'musl-gcc -O2 -w -o musl_dynamic m.c', './musl_dynamic'),
    'java': ('java', 'javac H.java', 'java -cp . H'),
    'java_int': ('java -Xint', 'javac H.java', 'java -Xint -cp . H'),
    'node': ('node', '', 'node n.js'),
    'go': ('a Go program', 'HOME=$PWD go build -o g_go g.go', './g_go'),
    'ghc': ('a GHC program', 'ghc -O h.hs -o h_hs', './h_hs'),
    'x264': ('x264', '', 'x264 --demuxer raw --input-res 320x240 --fps 25 --threads 2 -o /dev/null /dev/zero'),
    'ffmpeg': ('ffmpeg', '', 'ffmpeg -f lavfi -i testsrc=duration=10000:size=320x240 -c:v mpeg4 -f null -'),
    'openssl': ('openssl speed', '', 'openssl speed -seconds 20 sha256 aes-128-cbc rsa2048 ecdsap256'),
    'perl': ('perl', '', 'perl p.pl'),
    'ruby': ('ruby', '', 'ruby r.rb'),
    'php': ('php', '', 'php b.php'),
    'lua': ('lua', '', 'lua5.4 l.lua'),
    'luajit': ('luajit', '', 'luajit l.lua'),
    'guile': ('guile', '', 'guile -c "(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (let l () (f 20) (l))"'),
    'gawk': ('gawk', '', 'gawk -f a.awk'),
    'busybox': ('busybox awk, static', '', 'busybox awk -f a.awk'),
    'sqlite3': ('sqlite3', '', 'sqlite3 :memory: ".read s.sql"'),
    'bzip2': ('bzip2', '', 'bzip2 -c {cc1}'),
    'xz': ('xz', '', 'xz -c {cc1}'),
    'zstd': ('zstd', '', 'zstd -19 -c {cc1}'),
    'clang': ('clang', '', 'clang -c -O2 cc.c -o /dev/null'),
}

Found = collections.namedtuple('Found', 'points walkers text')


def trace(build, folder, name, points, seconds):
    """What the tracer found; None: the program is not there."""
    _, make, command = {**PROGRAMS, **MORE}[name]
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True).stdout.strip()
    if make and subprocess.run(['sh', '-c', make], cwd=folder, capture_output=True).returncode:
        return None
    words = command.replace('{cc1}', cc1)
    if not shutil.which(words.split()[0], path=os.environ['PATH'] + ':' + folder) and not words.startswith('./'):
        return None
    tracer = os.path.join(os.path.abspath(build), 'test', 'shadow')
    # The runtime cannot see the loader's start, which has no tables that it could read: there all of its stacks are cut.
    many = points > POINTS
    options = (f'--points={points} --seconds={seconds} --first={1000 if name != "events" else 0} --window=4000 '
               f'--every={1 if many else 2} --pause={200 if many else 20} --show=100')
    out = subprocess.run(['sh', '-c', f'exec {tracer} {options} {words}'], cwd=folder, capture_output=True, text=True,
                         env={**os.environ, 'LC_ALL': 'C', 'XDG_CACHE_HOME': folder, 'DEBUGINFOD_URLS': ''}).stdout
    counts = {}
    for line in out.splitlines():
        walker, _, rest = line.partition(' ')
        if walker in WALKERS:
            counts[walker] = {v: int(n) for v, n in re.findall(r'([a-z ]+?) (\d+)(?:, |$)', rest)}
    points = re.search(r'points (\d+)', out)
    return Found(int(points[1]) if points else 0, counts, out)


def check(tap, name, title, found):
    if not found:
        tap.skip(title, 'it is not here')
        return
    wrong = {w: c['false'] + c['contradicts'] for w, c in found.walkers.items()}
    tap.ok(found.points > 1000, f'{title}: {found.points} points', found.text)
    for walker in WALKERS:
        tap.ok(wrong.get(walker) == 0, f'{title}, {walker}: no wrong caller without a mark', found.text)
    exact = found.walkers.get('record', {}).get('exact', 0)
    tap.ok(name not in PROGRAMS or exact > 0.7 * found.points, f'{title}, record: most stacks are complete', found.text)


def row(title, found):
    cells = [' / '.join(f'{100 * sum(c[v] for v in of) / max(found.points, 1):.1f}' for of in
                        (['exact'], ['cut'], ['guessed', 'guessed wrong'])) + f' / {c["false"] + c["contradicts"]}'
             for c in (found.walkers[w] for w in WALKERS)]
    return f'| {title} | {found.points} | ' + ' | '.join(cells) + ' |'


def main():
    build, words = sys.argv[1], sys.argv[2:]
    table = words[words.index('--table') + 1] if '--table' in words else None
    points = int(words[words.index('--points') + 1]) if '--points' in words else POINTS
    names = [w for w in words if w in PROGRAMS or w in MORE] or list(PROGRAMS) + (list(MORE) if table else [])
    tap, lines = Tap(), []
    with tempfile.TemporaryDirectory(prefix='kin-shadow-') as folder:
        for name, text in SOURCES.items():
            with open(os.path.join(folder, name), 'w') as f:
                f.write(text)
        for name in names:
            title = {**PROGRAMS, **MORE}[name][0]
            found = trace(build, folder, name, points, int(os.environ.get("SHADOW_SECONDS", 60 + points // 5000)))
            check(tap, name, title, found)
            if found and found.walkers:
                lines.append(row(title, found))
    if table:
        write_table(table, lines)
    sys.exit(tap.done())


def write_table(path, lines):
    with open(path) as f:
        before, _, rest = f.read().partition('<!-- shadow -->\n')
    after = rest.partition('<!-- end -->')[2]
    with open(path, 'w') as f:
        f.write(before + '<!-- shadow -->\n| program | points | ' + ' | '.join(WALKERS.values()) + ' |\n|---|---|---|---|---|\n' +
                '\n'.join(lines) + '\n<!-- end -->' + after)


if __name__ == '__main__':
    main()
