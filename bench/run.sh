#!/bin/sh
# run.sh [BUILD] [quick|full] [SECTION...]: kin's gprof against the installed one, in one run.
#
# quick (the default) takes two minutes; full has the sizes at which GNU gprof takes ten minutes
# per run. Prints a Markdown table; bench/README.md holds the last one that was kept:
#
#	bench/run.sh build full --keep
#	bench/run.sh build record [quick|full] [--keep]: kin record against the installed perf
#
# run.sh BUILD report [full|many|large] [--keep]: kin report next to perf report, on recordings of samples. full adds
# ten million samples, 3 GB; many has those alone, large programs of 100 MB and second reports.
#
# run.sh BUILD export [--keep]: what kin export takes in each format.
#
# run.sh BUILD runtime [--lua]: the collection runtime next to glibc's, uftrace and callgrind, as far as
# they are installed. --lua adds Debian's Lua.
#
# run.sh BUILD whole [PROGRAM...] [--runs=N] [--keep]: sqlite3, Lua, zstd, redis and cppcheck from Debian's sources,
# recorded and counted by kin and by others.
#
# Environment: PEER, the gprof to compare with (/usr/bin/gprof); PEER_NEW, a second, newer one for
# the section "lines"; STACKCOLLAPSE, FlameGraph's stackcollapse-perf.pl for "report"; BENCH_DIR, where
# inputs and outputs go (BUILD/bench; full needs 10 GB).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -eq 0 ] || shift
case ${1:-} in
record | runtime)
	section=$1
	shift
	exec python3 "$here/$section/run.py" "$build" "$@"
	;;
esac
dir=${BENCH_DIR:-$build/bench}
mkdir -p "$dir"
if [ "${1:-}" = whole ]; then
	shift
	[ "$dir/timed" -nt "$here/timed.c" ] || ${CC:-cc} -O2 -o "$dir/timed" "$here/timed.c"
	exec python3 "$here/whole/run.py" "$build" "$@"
fi
for tool in gen timed; do
	[ "$dir/$tool" -nt "$here/$tool.c" ] || ${CC:-cc} -O2 -o "$dir/$tool" "$here/$tool.c"
done
case ${1:-} in
report | export)
	[ "$dir/gen_report" -nt "$here/report/gen.c" ] || ${CC:-cc} -O2 -o "$dir/gen_report" "$here/report/gen.c"
	;;
esac
if [ "${1:-}" = export ]; then
	shift
	exec python3 "$here/export.py" "$build" "$dir" "$@"
fi
if [ "${1:-}" = report ]; then # reports of samples, next to perf
	[ "$dir/work" -nt "$here/report/work.cpp" ] ||
		${CXX:-c++} -O2 -g -fno-omit-frame-pointer -o "$dir/work" "$here/report/work.cpp"
	exec python3 "$here/report/report.py" "$build" "$dir" "$@"
fi
exec python3 "$here/bench.py" --build "$build" --dir "$dir" "$@"
