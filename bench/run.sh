#!/bin/sh
# usage: bench/run.sh [BUILD] [SECTION] [OPTION...]
#
# Compares the programs of BUILD (default: build) with their peers, in one run, and prints tables in Markdown.
# bench/README.md says how to read them, and how far each goal is.
#
#   [quick|full] [NAME...]       kin's gprof next to the installed one. quick (the default) takes two minutes;
#                                full has the sizes at which GNU gprof takes ten minutes a run
#   report [full|many|large]     kin report next to perf report. full adds ten million samples, 3 GB; many has
#                                these alone; large: programs of 100 MB, second reports
#   unseen SEED...               the same of programs made up from seeds, the worst row first
#   record [quick|full]          kin record next to perf record
#   runtime [--lua]              the collection runtime next to glibc's, uftrace and callgrind, as far as they are
#                                installed. --lua adds Debian's Lua
#   whole [PROGRAM...] [--runs=N]
#                                sqlite3, Lua, zstd, redis and cppcheck from Debian's sources, recorded and counted
#                                by kin and by others
#   export                       what kin export takes in each format
#
# BUILD --help lists the names of gprof's sections.
#
# Environment: PEER, the gprof to compare with (/usr/bin/gprof); PEER_NEW, a second, newer one for the section
# "lines"; STACKCOLLAPSE, FlameGraph's stackcollapse-perf.pl for "report"; BENCH_DIR, where inputs and outputs
# go (BUILD/bench; full needs 10 GB).
set -eu

case ${1:-} in
-h | --help)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
	exit
	;;
esac

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -eq 0 ] || shift
section=gprof
case ${1:-} in
record | runtime | report | unseen | export | whole)
	section=$1
	shift
	;;
esac

dir=${BENCH_DIR:-$build/bench}
mkdir -p "$dir"

tool() { # name source [compiler option...]
	[ "$dir/$1" -nt "$here/$2" ] && return
	case $2 in
	*.cpp) compiler=${CXX:-c++} ;;
	*) compiler=${CC:-cc} ;;
	esac
	name=$1 source=$2
	shift 2
	$compiler -O2 "$@" -o "$dir/$name" "$here/$source"
}

tool gen gen.c
tool timed timed.c
case $section in
report | export) tool gen_report report/gen.c ;;
esac

case $section in
record | runtime | whole) exec python3 "$here/$section/run.py" "$build" "$@" ;;
export | unseen) exec python3 "$here/$section.py" "$build" "$dir" "$@" ;;
report)
	tool work report/work.cpp -g -fno-omit-frame-pointer
	exec python3 "$here/report/report.py" "$build" "$dir" "$@"
	;;
gprof) exec python3 "$here/bench.py" --build "$build" --dir "$dir" "$@" ;;
esac
