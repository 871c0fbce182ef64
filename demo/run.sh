#!/bin/sh
# The demonstration: build a real program with -pg, run it, and show where its time went. The program is
# kin itself, at work on the profile of a program of 20,000 functions. Then what needs kin's runtime,
# and what needs no compiling at all.
set -eu
build=$(realpath "${1:-build}")
top=$(dirname "$(dirname "$(realpath "$0")")")
work=$build/demo
mkdir -p "$work"

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }

say "1. Building kin with -pg ..."
[ -e "$work/pg/build.ninja" ] ||
	meson setup "$work/pg" "$top" --buildtype=debugoptimized -Dc_args=-pg -Dc_link_args=-pg -Dwhole_program=false >"$work/setup.log"
ninja -C "$work/pg" kin >"$work/build.log" || { cat "$work/build.log"; exit 1; }

say "2. Running it on a large profile: it leaves gmon.out, as every -pg program does."
cd "$work"
cc -O2 -o gen "$top/bench/gen.c"
./gen zipf 20000 large
for i in 1 2 3 4 5; do
	GMON_OUT_PREFIX=gmon.out "$work/pg/kin" gprof -b large.elf large.gmon >/dev/null
done
ls -sh gmon.out.*

say "3. kin flat: where the time is spent."
"$build/kin" flat --width 110 pg/kin gmon.out.* | head -18

say "4. kin graph: on whose behalf."
"$build/kin" graph --min-share 0.2 --width 110 pg/kin gmon.out.* | head -40

say "5. The same as gprof prints it: build/gprof is a drop-in."
"$build/gprof" -b -p pg/kin gmon.out.* | head -12
rm -f gmon.out.*

say "6. Threads and shared libraries: what gprof loses, and kin run does not."
flags='-O1 -g -pg -fno-inline'
cc $flags -fPIC -shared -DLIBRARY -o libmix.so "$top/demo/threads.c"
cc $flags -o threads "$top/demo/threads.c" -L. -lmix -Wl,-rpath,"$work" -pthread
rm -f gmon.out && ./threads 0 # by exit: else there would be no gmon.out at all
echo && echo '$ gprof threads gmon.out' && gprof -b -p threads gmon.out | head -9
echo '$ kin run ./threads; kin flat threads.kin' && "$build/kin" run -q --no-gmon -o threads.kin ./threads
"$build/kin" flat threads.kin
echo '$ kin graph threads.kin mix' && "$build/kin" graph threads.kin mix

say "7. Nothing compiled for it: kin record, on kin itself."
if "$build/kin" record -o kin.kin "$build/kin" gprof -b large.elf large.gmon >/dev/null; then
	"$build/kin" report --width 110 kin.kin | head -24
fi

cat <<END

For your own program:
	gcc -O2 -g -pg -o prog prog.c && ./prog
	$build/kin flat prog gmon.out      (then: kin graph, kin annotate FUNCTION, kin lines)
	$build/gprof prog gmon.out         (what you always typed, only faster)
	$build/kin run ./prog && kin flat  (the same -pg program: threads, libraries, true times per call)
	$build/kin record ./any && kin report  (any program, as it is)
END
