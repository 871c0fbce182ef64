#!/bin/sh
# run.sh [BUILD] [quick|full] [SECTION...]: kin's gprof against the installed one, in one run.
#
# quick (the default) takes two minutes; full has the sizes at which GNU gprof takes ten minutes
# per run. Prints a Markdown table; bench/README.md holds the last one that was kept:
#
#	bench/run.sh build full --keep
#
# The collection runtime next to glibc's, uftrace and callgrind (as far as they are installed; --lua
# adds Debian's Lua):
#
#	bench/run.sh build runtime [--lua]
#
# Environment: PEER, the gprof to compare with (/usr/bin/gprof); PEER_NEW, a second, newer one for
# the section "lines"; BENCH_DIR, where inputs and outputs go (BUILD/bench; full needs 10 GB).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -eq 0 ] || shift
if [ "${1:-}" = runtime ]; then
	shift
	exec python3 "$here/runtime/run.py" "$build" "$@"
fi
dir=${BENCH_DIR:-$build/bench}
mkdir -p "$dir"
for tool in gen timed; do
	[ "$dir/$tool" -nt "$here/$tool.c" ] || ${CC:-cc} -O2 -o "$dir/$tool" "$here/$tool.c"
done
exec python3 "$here/bench.py" --build "$build" --dir "$dir" "$@"
