#!/bin/bash
# run.sh BUILD [LEVEL | SUITE]... - tests of one build.
#
#	quick	unit programs, golden sessions, stored output of GNU gprof: what a change breaks first
#	check	and all that needs no special machine: "make check"
#	all	and fuzz corpora, terminal, browser, MPI, packages, situations, ClickHouse, counted instructions
#
# Two suites run beside each other (JOBS=N: N). Each prints its failures and a line when it ends; the last line is
# "N passed, N failed, N skipped". Logs are in BUILD/test. KIN_FULL=1: the long loops.
set -u
quick='unit golden cases sources'
check='cli diff runtime record perf reliability truth default names shadow'
all='situations fleet package mpi fuzz page tui guard launchers'

here=$(dirname "$(realpath "$0")")
full=${KIN_FULL:+--full}

# Of meson's tests, each set with a log of its own.
meson() { # arguments of meson test
	python3 "$here/lib/meson_tap.py" "$build" "$s" --no-rebuild "$@"
}

drive() { # suite: the driver, which prints TAP
	case $s in
	sources) meson --suite check ;;
	cli) meson --suite cli ${ASAN_OPTIONS:+--no-suite answers} ;;
	unit | golden | fuzz | page | tui) meson --suite "$s" ;;
	cases) "$here/cases/run.sh" "$build/gprof" ;;
	diff) "$here/diff/run.sh" "$build/gprof" $full ;;
	perf) python3 "$here/perf/run.py" "$build/kin" ;;
	default) python3 "$here/diff/default.py" "$build/gprof" ;;
	reliability) "$here/reliability/run.sh" "$build/gprof" --build "$build" $full ;;
	runtime) python3 "$here/runtime/run.py" "$build" $full ;;
	record) python3 "$here/record/record.py" "$build" ;;
	names) python3 "$here/record/names.py" "$build" ;;
	mpi) "$here/mpi/mpi.sh" "$build" $full ;;
	launchers) "$here/mpi/launchers.sh" "$build" ;;
	package) python3 "$here/package/run.py" "$build" $full ;;
	situations) python3 "$here/situations/run.py" "$build" $full ;;
	fleet) python3 "$here/fleet/run.py" "$build" ;;
	truth) python3 "$here/truth/run.py" "$build" ;;
	shadow) python3 "$here/unwind/shadow.py" "$build" ;;
	guard) python3 "$here/../bench/guard.py" "$build" ;;
	*) echo "no such suite: $s"; return 2 ;;
	esac
}

if [ "${1:-}" = --drive ]; then
	build=$2 s=$3
	drive
	exit
fi
if [ "${1:-}" = --suite ]; then
	name=$(basename "$2")
	[ "$name" = build ] && name=$3 || name=$name/$3
	exec python3 "$here/lib/summary.py" "$name" "$2/test/$3.tap" "$here/run.sh" --drive "$2" "$3"
fi

[ $# -ge 1 ] || { echo "usage: $0 BUILD [quick | check | all | SUITE]..." >&2; exit 2; }
build=$(realpath "$1") && shift || exit 2
suites=
for word in "${@:-check}"; do
	case $word in
	quick) suites="$suites $quick" ;;
	check) suites="$suites $quick $check" ;;
	all) suites="$suites $quick $check $all" ;;
	*) suites="$suites $word" ;;
	esac
done
outer=${TEST_TOTALS:-}
TEST_TOTALS=$(mktemp) || exit 2
export TEST_TOTALS
trap 'rm -f "$TEST_TOTALS"' EXIT

if ! ninja -C "$build" --quiet meson-test-prereq test-tools >"$build/test/programs.log" 2>&1; then
	tail -n 40 "$build/test/programs.log"
	echo '! programs of tests cannot be built' >>"$TEST_TOTALS"
	echo 0 1 0 >>"$TEST_TOTALS"
	suites=
fi
printf '%s\n' $suites | xargs -r -P "${JOBS:-2}" -I '{}' "$here/run.sh" --suite "$build" '{}'
[ -z "$outer" ] || cat "$TEST_TOTALS" >>"$outer"
python3 "$here/lib/summary.py" --total
