#!/bin/sh
# run.sh BUILD [SUITE...] - every test of one build: what "make check" means.
#
# Suites: meson (unit tests, fuzz corpora, source checks), cases, diff, default, perf, reliability, runtime,
# names, package, record, mpi, situations, fleet, truth, guard.
# The last line is "N passed, N failed, N skipped"; logs are in BUILD/test. KIN_FULL=1: the long loops.
set -u
[ $# -ge 1 ] || { echo "usage: $0 BUILD [SUITE...]" >&2; exit 2; }
build=$(realpath "$1") && shift || exit 2
here=$(dirname "$(realpath "$0")")
full=${KIN_FULL:+--full}
outer=${TEST_TOTALS:-}
TEST_TOTALS=$(mktemp) || exit 2
export TEST_TOTALS
trap 'rm -f "$TEST_TOTALS"' EXIT

ninja -C "$build" --quiet test-tools || exit 1

suite() { # name command...
	name=$1
	shift
	python3 "$here/lib/summary.py" "$name" "$build/test/$name.tap" "$@" || true
}

for s in ${*:-meson cases diff default perf reliability runtime record names mpi package situations fleet truth guard}; do
	case $s in
	meson) suite meson python3 "$here/lib/meson_tap.py" "$build" ;;
	cases) suite cases "$here/cases/run.sh" "$build/gprof" ;;
	diff) suite diff "$here/diff/run.sh" "$build/gprof" $full ;;
	perf) suite perf python3 "$here/perf/run.py" "$build/kin" ;;
	default) suite default python3 "$here/diff/default.py" "$build/gprof" ;;
	reliability) suite reliability "$here/reliability/run.sh" "$build/gprof" --build "$build" $full ;;
	runtime) suite runtime python3 "$here/runtime/run.py" "$build" $full ;;
	record) suite record python3 "$here/record/record.py" "$build" ;;
	names) suite names python3 "$here/record/names.py" "$build" ;;
	mpi)
		suite mpi "$here/mpi/mpi.sh" "$build" $full
		suite launchers "$here/mpi/launchers.sh" "$build"
		;;
	package) suite package python3 "$here/package/run.py" "$build" $full ;;
	situations) suite situations python3 "$here/situations/run.py" "$build" $full ;;
	fleet) suite fleet python3 "$here/fleet/run.py" "$build" ;;
	truth) suite truth python3 "$here/truth/run.py" "$build" ;;
	guard) suite guard python3 "$here/../bench/guard.py" "$build" ;;
	*) echo "no such suite: $s" >&2; exit 2 ;;
	esac
done
[ -z "$outer" ] || cat "$TEST_TOTALS" >>"$outer"
python3 "$here/lib/summary.py" --total
