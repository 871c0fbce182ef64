"""Stacks of real programs, as a tracer knows them that sees each call and return: shadow/shadow.c.

    shadow.py BUILD [--table FILE] [--points N] [PROGRAM...]

In no program may a walker name a caller that is none without a mark, or call a stack complete that has more callers. Without
options it goes through the programs that can be built here, and those of shadow_qemu.py for other machines, in some 40
seconds. --table goes through all that are installed, with N points each, and writes what was found into the table of a
Markdown file, where rows of other programs than those that were named stay.
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
import shadow_qemu
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
    'o.ml': 'module M = Map.Make(Int)\nlet rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n'
            'let () = while true do let m = ref M.empty in for i = 1 to 1000 do m := M.add (i * 7919 mod 1009) (string_of_int (fib (i mod 12))) !m done;\n'
            '(try M.iter (fun k v -> if k = 500 then failwith v) !m with Failure _ -> ()); ignore (List.sort compare (M.bindings !m)); Gc.minor () done\n',
    't.tcl': 'proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }\n'
             'while 1 { set a {}; for {set i 0} {$i < 100} {incr i} { lappend a [fib [expr {$i % 12}]] }; set a [lsort $a]\n'
             'catch {error x}; regsub -all 1 [join $a ,] 2 b }\n',
    'r.r': 'fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)\nrepeat { a <- sapply(1:100, function(i) fib(i %% 12)); b <- sort(a)\n'
           'try(stop("x"), silent = TRUE); gsub("1", "2", paste(a, collapse = ",")); m <- matrix(runif(400), 20); solve(m) }\n',
    's.pl': 'fib(0, 0). fib(1, 1).\nfib(N, F) :- N > 1, A is N - 1, B is N - 2, fib(A, X), fib(B, Y), F is X + Y, !.\n'
            'go :- repeat, numlist(1, 100, L), msort(L, _), fib(12, _), catch(throw(x), _, true), atom_length(hello, _), fail.\n',
    'm.cs': 'using System; using System.Collections.Generic; class M { static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }\n'
            'static void Main() { var m = new Dictionary<string, int>(); for (int i = 0; ; i++) { m["k" + i % 5000] = Fib(i % 15);\n'
            'if (i % 100 == 0) try { throw new Exception("x"); } catch (Exception) {} if (i % 1000 == 0) new List<string>(m.Keys).Sort(); } } }\n',
    'p.pas': '{$mode objfpc}\nprogram p; uses sysutils; type func = function(n: longint): longint;\n'
             'function fib(n: longint): longint; begin if n < 2 then fib := n else fib := fib(n - 1) + fib(n - 2) end;\n'
             'var f: func; s: string; i: longint; begin f := @fib; while true do begin s := \'\'; for i := 1 to 50 do s := s + IntToStr(f(i mod 12));\n'
             'try raise Exception.Create(s) except on Exception do i := Pos(\'1\', s) end; s := UpperCase(Format(\'%s %d %f\', [s, i, sqrt(i)])) end end.\n',
    'ada.adb': 'with Ada.Containers.Ordered_Maps; procedure Ada_It is X : exception;\n'
               'package Maps is new Standard.Ada.Containers.Ordered_Maps (Integer, Integer); M : Maps.Map;\n'
               'function Fib (N : Integer) return Integer is (if N < 2 then N else Fib (N - 1) + Fib (N - 2));\n'
               'begin loop for I in 1 .. 1000 loop M.Include (I * 7919 mod 1009, Fib (I mod 12)); end loop;\n'
               'begin if Integer (M.Length) > 10 then raise X with Integer\'Image (Integer (M.Length)); end if; exception when X => null; end; M.Clear;\n'
               'end loop; end Ada_It;\n',
    'f.f90': 'program f\n use omp_lib\n integer :: i, k\n real(8) :: a(200, 200), b(200, 200), s\n character(40) :: t\n call random_number(a)\n do k = 1, 100000000\n'
             ' s = 0\n!$omp parallel do reduction(+:s) num_threads(3)\n do i = 1, 200\n s = s + sum(sin(a(:, i))) + g(mod(i, 10))\n end do\n'
             ' b = matmul(a, transpose(a))\n write (t, *) s\n end do\ncontains\n recursive function g(n) result(r)\n integer :: n\n real(8) :: r\n'
             ' if (n < 2) then\n r = n\n else\n r = g(n - 1) + g(n - 2)\n end if\n end function\nend program\n',
    'f.sh': 'f() { if (($1 < 2)); then r=$1; else f $(($1 - 1)); f $(($1 - 2)); fi; }\nwhile :; do f 8; a=${BASH_VERSION//5/6}; done\n',
    'r.rs': 'use std::collections::{BTreeMap, HashMap};\nfn fib(n: u32) -> u32 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }\nfn main() {\n'
            'std::panic::set_hook(Box::new(|_| {}));\nlet t: Vec<_> = (0..2).map(|k| std::thread::spawn(move || loop {\n'
            'let mut m = BTreeMap::new(); let mut h = HashMap::new(); for i in 0..300u32 { m.insert(format!("{}", i * 7919 % 1009), fib(i % 12)); h.insert(i, k); }\n'
            'let mut v: Vec<_> = m.iter().collect(); v.sort_by_key(|x| x.1); let _ = std::panic::catch_unwind(|| { if fib(k) < 9 { panic!("x") } });\n'
            '})).collect(); for x in t { x.join().unwrap(); } }\n',
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
    'ocaml': ('an OCaml program', 'ocamlfind ocamlopt -o o_ml o.ml || ocamlopt -o o_ml o.ml', './o_ml'),
    'fpc': ('a Pascal program', 'fpc -O2 -op_pas p.pas', './p_pas'),
    'gnat': ('an Ada program', 'mv ada.adb ada_it.adb; gnatmake -O2 ada_it.adb', './ada_it'),
    'fortran': ('a Fortran program with OpenMP', 'gfortran -O2 -fopenmp -o f_f90 f.f90', './f_f90'),
    'rust': ('a Rust program', 'rustc -O -o r_rs r.rs', './r_rs'),
    'mono': ('mono', 'mcs m.cs', 'mono m.exe'),
    'erlang': ('erlang', '', 'erl -noshell -eval "F=fun(G,N)->if(N<2)->N;true->G(G,N-1)+G(G,N-2)end end,'
               'L=fun(G)->F(F,15),lists:sort([integer_to_list(I)||I<-lists:seq(1,100)]),catch(throw(x)),G(G)end,L(L)."'),
    'sbcl': ('sbcl', '', 'sbcl --noinform --eval "(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))'
             ' (loop (f 15) (sort (loop for i below 100 collect (format nil \\"~a\\" i)) (function string<)) (ignore-errors (error \\"x\\"))))"'),
    'gforth': ('gforth', '', 'gforth -e ": f dup 2 < if else dup 1- recurse swap 2 - recurse + then ; : g begin 15 f drop again ; g"'),
    'tcl': ('tcl', '', 'tclsh t.tcl'),
    'R': ('R', '', 'R --vanilla -f r.r'),
    'prolog': ('swi-prolog', '', 'swipl -g go -t halt s.pl'),
    'bash': ('bash', '', 'bash f.sh'),
    'redis': ('redis-server', 'command -v redis-server', 'sh -c "(sleep 1; redis-benchmark -s ./s -l) & exec redis-server --port 0 --unixsocket ./s --save \'\'"'),
    'valgrind': ('valgrind', 'gcc -O2 -w -o m_c m.c -lm', 'valgrind ./m_c'),
    'qemu': ('qemu-aarch64', 'aarch64-linux-gnu-gcc -O2 -w -static -o m_arm m.c -lm', 'qemu-aarch64 ./m_arm'),
    'x265': ("ffmpeg's libx265", '', 'ffmpeg -f lavfi -i testsrc=duration=10000:size=320x240 -c:v libx265 -f null -'),
    'vp9': ("ffmpeg's libvpx", '', 'ffmpeg -f lavfi -i testsrc=duration=10000:size=320x240 -c:v libvpx-vp9 -f null -'),
    'av1': ("ffmpeg's libaom", '', 'ffmpeg -f lavfi -i testsrc=duration=10000:size=320x240 -c:v libaom-av1 -cpu-used 8 -f null -'),
    'audio': ("ffmpeg's filters, libmp3lame", '', 'ffmpeg -f lavfi -i sine=d=100000 -af aresample=48000,loudnorm -c:a libmp3lame -f null -'),
    'ffmpeg': ('ffmpeg', '', 'ffmpeg -f lavfi -i testsrc=duration=10000:size=320x240 -c:v mpeg4 -f null -'),
    'openssl': ('openssl speed', '', 'openssl speed -seconds 1 -bytes 1000 md5 sha1 sha256 sha512 aes-128-cbc aes-256-cbc ghash camellia-128-cbc '
                'des-ede3 whirlpool rsa2048 dsa2048 ecdsap256 ecdsap384 ecdsap521 ecdhx25519 ecdhx448 ed25519 ffdh2048'),
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
    tap, rows = Tap(), {}
    with tempfile.TemporaryDirectory(prefix='kin-shadow-') as folder:
        for name, text in SOURCES.items():
            with open(os.path.join(folder, name), 'w') as f:
                f.write(text)
        for name in names:
            title = {**PROGRAMS, **MORE}[name][0]
            found = trace(build, folder, name, points, int(os.environ.get("SHADOW_SECONDS", 60 + points // 5000)))
            check(tap, name, title, found)
            if found and found.walkers:
                rows[title] = row(title, found)
        if not table and len(names) == len(PROGRAMS):
            shadow_qemu.check_all(tap, build, folder)
    if table:
        write_table(table, rows)
    sys.exit(tap.done())


def write_table(path, rows):
    with open(path) as f:
        before, _, rest = f.read().partition('<!-- shadow -->\n')
    old, _, after = rest.partition('<!-- end -->')
    rows = {**{line.split(' | ')[0][2:]: line for line in old.splitlines()}, **rows}
    titles = [title for title, _, _ in {**PROGRAMS, **MORE}.values()]
    with open(path, 'w') as f:
        f.write(before + '<!-- shadow -->\n| program | points | ' + ' | '.join(WALKERS.values()) + ' |\n|---|---|---|---|---|\n' +
                '\n'.join(rows[t] for t in titles if t in rows) + '\n<!-- end -->' + after)


if __name__ == '__main__':
    main()
