#!/bin/bash
# run.sh BUILD - the demonstration: builds kin, and Lua from Debian's sources; five screens of what kin shows of it.
# Lua runs a script with two mistakes that everybody has made once, and kin finds them.
set -eu
build=$(realpath "${1:-build}")
top=$(dirname "$(dirname "$(realpath "$0")")")
work=$build/demo
mkdir -p "$work/objects"
cd "$work"
export PATH=$build:$PATH KIN_PAGER=cat

screen() { # title command: at most 24 lines
	if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$1"; else printf '\n%s\n' "$1"; fi
	echo "\$ $2"
	bash -c "$2" 2>&1 | sed -n '1,20p'
}

lua() { # program, flags...
	local out=$1
	shift
	(cd objects && printf '%s\n' "$source"/l*.c | grep -v '/\(luac\|ltests\)\.c' |
		xargs -P 2 -n 4 gcc -w -DLUA_USE_LINUX -I. -I"$source" "$@" -c && gcc "$@" -o "../$out" l*.o -Wl,-E -lm -ldl)
}

echo 'Building kin, for about a minute ...'
"$top/test/diff/debsrc.sh" "$work" lua5.4 >source.txt 2>debsrc.log &
ninja -C "$build" --quiet program >ninja.log || { cat ninja.log; exit 1; }
if wait %1; then
	source=$(cat source.txt)/src
	[ -d "$source" ] || source=$(cat source.txt)
	echo '#define DEB_HOST_MULTIARCH ""' >objects/lua5.4-deb-multiarch.h
	[ -x lua ] || lua lua -O1 -g
	name=lua run='./lua words.lua 8' function=tinsert
	cp "$top/demo/words.lua" .
else
	echo "(Lua's sources cannot be fetched: see $work/debsrc.log. A program of kin's own is shown instead.)"
	gcc -O1 -g -o callers "$top/demo/callers.c"
	name=callers run=./callers function=work
fi

screen '1. Any program, as it is: which functions take the time?' "kin record -q -o $name.kin $run >/dev/null; kin report $name.kin"
screen '2. On whose behalf?' "kin graph $name.kin $function"

if [ "$name" = lua ]; then
	[ -x lua-pg ] || lua lua-pg -O1 -g -pg
	screen '3. Built with -pg, gprof shows what it always showed.' './lua-pg words.lua 4 >/dev/null; gprof -b -p lua-pg gmon.out'
fi
gcc -O1 -g -pg -o callers-pg "$top/demo/callers.c"
screen '4. cheap() and dear() call work() equally often: gprof divides its time by calls, and is wrong.' \
	'./callers-pg >/dev/null; gprof -b -q callers-pg gmon.out | grep -B 4 "^\[[0-9]*\].* work"; echo
	kin run -q --no-gmon -o callers.kin ./callers-pg >/dev/null; kin graph callers.kin work'
screen '5. All of it on one page: call graph, flame graph, source.' "kin html -o $name.html $name.kin"

cat <<END

The page: file://$work/$name.html
For your own program: $build/kin ./prog    then: kin help
END
