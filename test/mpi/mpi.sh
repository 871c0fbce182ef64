#!/bin/sh
# mpi.sh BUILD [--full] - ranks of real jobs of Open MPI, more ranks than CPUs: each has its file; a slow rank is
# found; kin-mpi reduce writes the same as kin merge --sum-ranks, whatever is missing. --full: up to 64 ranks.
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") || exit 2
full=${2:-}
. "$here/../lib/tap.sh"

for need in mpirun mpicc; do
	if ! command -v $need >/dev/null; then
		skip 'jobs of MPI' "$need is not installed: apt install openmpi-bin libopenmpi-dev"
		finish
	fi
done
if [ ! -x "$build/kin-mpi" ]; then
	skip 'jobs of MPI' 'kin-mpi was not built: meson configure -Dmpi=enabled says why'
	finish
fi

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export PMIX_MCA_gds=hash
for v in KIN_OPTIONS TMPDIR; do unset $v; done
kin=$build/kin
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mpicc -O2 -g -o stencil "$here/stencil.c" || exit 2
job() { # ranks command...
	n=$1
	shift
	mpirun --oversubscribe -n "$n" "$@" 2>>log
}
reduce() { job "$@"; }

# ---- files ----

each_has_its_file() { # pattern of printf, ranks
	for i in $(seq 0 $(($2 - 1))); do
		# shellcheck disable=SC2059
		f=$(printf "$1" "$i")
		"$kin" info -f csv "$f" >info 2>&1 || [ $? = 1 ]
		grep -q "^file,rank,$i" info && grep -q "^file,ranks,$2" info && grep -q '^file,job,.' info || {
			cat info
			echo "$f"
			return 1
		}
	done
}
is_left() { # files
	# shellcheck disable=SC2012
	[ "$(ls *.kin | tr '\n' ' ')" = "$1" ] || { ls; return 1; }
}

job 3 "$kin" record -q ./stencil 1 5 >/dev/null
check 'kin record: a file for each rank, that says which' each_has_its_file profile.%d.kin 3
check 'and no other' is_left 'profile.0.kin profile.1.kin profile.2.kin '
rm -f ./*.kin
job 3 "$kin" record -q -o some.kin ./stencil 1 5 >/dev/null
check '-o: with the rank' is_left 'some.0.kin some.1.kin some.2.kin '
rm -f ./*.kin
# shellcheck disable=SC2016
job 2 sh -c '"$1" record -q -o "own.$OMPI_COMM_WORLD_RANK.kin" ./stencil 1 5' sh "$kin" >/dev/null
check '-o: a name with the rank stays as it is' is_left 'own.0.kin own.1.kin '
rm -f ./*.kin
job 2 "$kin" record -q --no-rank -o 'same.kin' true
check '--no-rank: the name as it is' is_left 'same.kin '
rm -f ./*.kin
job 2 "$kin" run -q ./stencil 1 5 >/dev/null
check 'kin run: a file for each rank, that says which' each_has_its_file profile.%d.kin 2
rm -f ./*.kin
cat >work.c <<'END'
__attribute__((noinline)) static void first(long n) { for (volatile long i = 0; i < n; i++) ; }
__attribute__((noinline)) static void second(long n) { for (volatile long i = 0; i < n; i++) ; }
int main(int n, char **v)
{
	enum { UNIT = 20000000 };
	if (n == 3) {
		first((v[1][0] - '0') * UNIT);
		second((v[2][0] - '0') * UNIT);
	}
	return 0;
}
END
cc -g -O1 -o work work.c
job 2 "$kin" run -q sh -c './work 5 5; true'
further_processes() { # of a rank: its sum has them
	[ "$(ls profile.[01].*.kin | wc -l)" = 2 ] && job 2 "$build/kin-mpi" reduce -q && "$kin" merge --sum-ranks -o sum.kin profile.*.kin &&
		cmp job.kin sum.kin && "$kin" flat job.kin | grep -q ' second$' && job 2 "$build/kin-mpi" reduce -q -o job.kin ./profile.%r.kin &&
		cmp job.kin sum.kin
}
check 'kin-mpi: files of further processes of a rank, too' further_processes
rm -f ./*.kin
if OMPI_CC="$kin cc gcc" mpicc -pg -g -o linked "$here/stencil.c" 2>log; then
	job 2 ./linked 1 5 >/dev/null
	check 'linked with libkinrt: a file for each rank' each_has_its_file kin.%d.kin 2
	rm -f ./*.kin gmon.out*
	job 2 "$kin" record -q ./linked 1 5 >/dev/null
	once() { [ -e kin.1.kin ] && "$kin" flat -f csv >all && "$kin" flat -f csv profile.*.kin >these && cmp all these; }
	check 'under kin record, too: its time counts once' once
	rm -f ./*.kin gmon.out*
else
	skip 'linked with libkinrt: a file for each rank' "$(tail -n 1 log)"
fi

# ---- which rank, and why ----

names_the_cause() { # rank function
	"$kin" imbalance -w 0 >imbalance || return 1
	grep -q "^  rank $1 has most to do outside of MPI" imbalance && grep -q "^  most of that is $2:" imbalance || {
		cat imbalance
		return 1
	}
}
waits_are_apart() {
	grep -q '^MPI .*exchange -> P\?MPI_Waitall$' imbalance || grep -q '^MPI .*residual -> P\?MPI_Allreduce$' imbalance || {
		cat imbalance
		return 1
	}
}
for slow in 2 5; do
	rm -f ./*.kin
	job 8 "$kin" record -q ./stencil $slow 400 >/dev/null
	check "rank $slow of 8 is slow, for chemistry()" names_the_cause $slow chemistry
done
check 'time in MPI is apart, by who calls it' waits_are_apart
plain_names() { "$kin" imbalance --all -f csv >csv && grep -q ',__libc_start_main$\|,__libc_start_main,' csv && ! grep @@ csv; }
check 'functions have the names of other reports' plain_names

by_rank() { # the lines of a rank in a report by rank equal the report of the rank's own file
	"$kin" flat --by rank -f csv >all.csv && "$kin" flat -f csv profile.3.kin >one.csv || return 1
	awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
		FILENAME == "all.csv" && $at[FILENAME, "rank"] == "rank 3" { all += $at[FILENAME, "self"] }
		FILENAME == "one.csv" { one += $at[FILENAME, "self"] }
		END { exit !(one > 0 && all - one < 1e-6 && one - all < 1e-6) }' all.csv one.csv
}
check '--by rank: the rank has what its file has' by_rank
one_rank() {
	"$kin" flat --rank 3 -f csv >a && "$kin" flat profile.3.kin -f csv >b && [ "$(awk -F, '{ s += $3 } END { print s }' a)" = \
		"$(awk -F, '{ s += $3 } END { print s }' b)" ]
}
check '--rank 3: the same' one_rank
no_such_rank() { "$kin" flat --rank 3-9,12 2>&1 | grep -q "no rank '12' in the data; there are: 0, 1, 2"; }
check '--rank: one that is not there is an error' no_such_rank
some_ranks() { # those left out are neither 0 nor missing
	"$kin" imbalance --rank 1-2 >a || return 1
	"$kin" imbalance profile.1.kin profile.2.kin >b
	[ $? = 1 ] || return 1
	grep -q '^  --rank leaves out 6 of the 8 ranks in the data$' a && ! grep -q missing a || { cat a; return 1; }
	# how many stacks were cut is said of all data
	grep -v '^  --rank\|could not be walked' a >c && grep -v '^  ranks 0, 3-7 of 8 are missing$\|could not be walked' b >d && cmp c d
}
check '--rank of several: imbalance is that of their files' some_ranks

as_rank() { # rank options...
	rank=$1
	shift
	PMIX_NAMESPACE=alone OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 "$kin" record -q "$@"
}
mkdir idle
printf 'int main(int n, char **v) { (void)v; for (volatile long i = 0; n > 1 && i < 200000000; i++) ; return 0; }' >idle.c
mpicc -o idle/busy idle.c
no_cause() { # of functions that other ranks have most of it is not known how much this one has
	mkdir mixed
	for try in 1 2 3; do # on a busy machine the same work may take half as long again
		as_rank 0 -o mixed/r.kin ./work 6 6
		as_rank 1 -o mixed/r.kin ./work 9 0
		as_rank 2 -o mixed/r.kin ./work 0 9
		"$kin" imbalance mixed/*.kin >out && grep -q '^  rank 0 has most to do' out && ! grep -q 'most of that' out && return
	done
	cat out
	return 1
}
check 'a cause that is not known is not named' no_cause
as_rank 0 -o idle/r.kin idle/busy 1
as_rank 1 -F 1 -o idle/r.kin idle/busy
as_rank 2 -o idle/r.kin idle/busy 1
counts_as_nothing() { # data: 2 of 3 ranks did something
	"$kin" imbalance -f csv --columns what,mean,sum,ranks,min_rank "$@" >csv 2>err || { cat err; return 1; }
	awk -F, '$1 == "rank" { n++; bad += !($3 > 0 && $3 - 3 * $2 < .01 && 3 * $2 - $3 < .01 && $4 == 2 && $5 == 1) }
		END { exit !n || bad }' csv && ! "$kin" imbalance "$@" 2>&1 | grep missing || { cat csv; return 1; }
}
check 'a rank without any sample did nothing, but is not missing' counts_as_nothing idle/r.0.kin idle/r.1.kin idle/r.2.kin
"$kin" merge -o idle/all.kin idle/r.*.kin
"$kin" merge --sum-ranks -o idle/sum.kin idle/r.*.kin 2>err
check 'nor is it in what kin merge makes of them' counts_as_nothing idle/all.kin
check 'nor in their sum' counts_as_nothing idle/sum.kin
nothing_is_said() { [ ! -s err ] || { cat err; return 1; }; }
check 'and nothing is said of it' nothing_is_said

as_rank 2 -e page-faults -o idle/faults.kin idle/busy
as_rank 1 -e page-faults -o idle/faults.kin idle/busy
in_events() {
	"$kin" imbalance idle/faults.*.kin >out
	[ $? = 1 ] && grep -q '^what  cost (events)  most (events)  rank' out && grep -q 'outside of MPI: [0-9]*\.[0-9] events, ' out || { cat out; return 1; }
}
check 'page faults are no seconds' in_events
narrow() { "$kin" imbalance -w 40 idle/faults.*.kin | grep -q '^cost (events)  rank  name$'; }
check 'on a narrow terminal the rank stays' narrow
other_events() {
	"$kin" imbalance idle/r.0.kin idle/faults.2.kin | grep -q '^  1 of the 2 ranks has no sample of .*: other events were recorded$'
}
check 'ranks of different events: said' other_events

# ---- sums ----

is_the_sum() { # processes
	rm -f job.kin
	job "$1" "$build/kin-mpi" reduce -q $(ls profile.*.kin | shuf) && cmp job.kin sum.keep
}
"$kin" merge --sum-ranks -o sum.kin profile.*.kin && mv sum.kin sum.keep
sizes='1 2 3 5 8 16'
[ -z "$full" ] || sizes="$sizes 32 64"
for n in $sizes; do
	check "kin-mpi reduce, $n processes: what kin merge --sum-ranks writes" is_the_sum "$n"
done
own_files() {
	rm -f job.kin
	job 8 "$build/kin-mpi" reduce -q && cmp job.kin sum.keep || return 1
	job 8 "$build/kin-mpi" reduce -q -o other.kin profile.%r.kin && cmp other.kin sum.keep
}
check 'without names: each process its own' own_files
any_tree() { # of merges
	"$kin" merge -o x.kin sum.keep >/dev/null 2>&1
	"$kin" merge --sum-ranks -o a.kin profile.7.kin profile.0.kin && "$kin" merge --sum-ranks -o b.kin profile.3.kin &&
		"$kin" merge -o c.kin profile.1.kin a.kin profile.5.kin && "$kin" merge -o d.kin profile.2.kin profile.4.kin &&
		"$kin" merge -o e.kin b.kin d.kin profile.6.kin c.kin && cmp e.kin sum.keep
}
check 'and any tree of kin merge' any_tree
rm -f [a-e].kin x.kin other.kin
not_twice() { ! "$kin" merge -o twice.kin sum.keep profile.3.kin 2>err && grep -q 'rank 3 is in several files' err && [ ! -e twice.kin ]; }
check 'a rank is not added to a sum that has it' not_twice
cp sum.keep idle/sum8.kin
no_report() { # of a sum that has a rank twice
	for c in imbalance flat graph report; do
		! "$kin" $c idle/sum8.kin "$@" >out 2>err && grep -q 'rank [03] is in several files' err && ! grep -q . out ||
			{ echo $c; cat out err; return 1; }
	done
}
check 'nor in a report' no_report profile.3.kin
check 'nor is the sum itself' no_report idle/sum8.kin

refuses() { # file command...: it would write to that
	file=$1
	shift
	cp "$file" before
	"$@" 2>err
	[ $? = 2 ] && grep -q "^kin[- ][a-z]*: -o $file would replace " err && cmp "$file" before || { cat err; return 1; }
}
check 'kin-mpi does not replace a recording of a rank' refuses profile.2.kin mpirun --oversubscribe -n 2 "$build/kin-mpi" reduce \
	-o profile.2.kin profile.0.kin profile.1.kin profile.2.kin
check 'nor where each process has its own' refuses profile.0.kin mpirun --oversubscribe -n 8 "$build/kin-mpi" reduce -o profile.0.kin
cp sum.keep idle/part.kin
check 'nor any of its files' refuses idle/part.kin mpirun --oversubscribe -n 2 "$build/kin-mpi" reduce -o idle/part.kin ./idle/part.kin
check 'nor does kin merge --sum-ranks' refuses profile.2.kin "$kin" merge --sum-ranks -o profile.2.kin profile.1.kin profile.2.kin
check 'nor kin merge one that it reads' refuses profile.2.kin "$kin" merge -o profile.2.kin profile.1.kin profile.2.kin
rm before idle/part.kin

mkdir twice
cp profile.[0-3].kin twice
cp profile.1.kin twice/profile.2.kin
"$kin" merge --sum-ranks -o idle/without.kin profile.[013].kin 2>err
left_out() { # words command...: of the copy, and it alone; exit 1
	words=$1
	shift
	(cd twice && rm -f job.kin && "$@" >log 2>&1; [ $? = 1 ]) && grep -q "$words" twice/log && ! grep -q 'several' twice/log &&
		cmp twice/job.kin idle/without.kin || { cat twice/log; return 1; }
}
words='profile.2.kin: the same recording of rank 1 as profile.1.kin: it is left out'
check 'a recording twice: counts once' left_out "$words" "$kin" merge --sum-ranks -o job.kin profile.0.kin profile.1.kin profile.2.kin profile.3.kin
for n in 1 3 4; do
	check "and so with $n processes" left_out "$words" mpirun --oversubscribe -n $n "$build/kin-mpi" reduce profile.0.kin \
		profile.1.kin profile.2.kin profile.3.kin
done
check 'and where each process has its own' left_out 'profile.2.kin: of rank 1, as the file of process 1: it is left out' \
	mpirun --oversubscribe -n 4 "$build/kin-mpi" reduce
imbalance_once() {
	(cd twice && ! "$kin" imbalance profile.*.kin >a 2>log && grep -q "$words" log || exit 1
		"$kin" imbalance profile.[013].kin >b
		cmp a b)
}
check 'and in a report' imbalance_once
# Recordings that went through a pipe have their end at their end.
piped() (
	mkdir piped && cd piped || return 1
	for rank in 0 1; do
		PMIX_RANK=$rank OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$kin" record -q -o - true >piped.$rank.kin 2>log || return 1
	done
	cp piped.0.kin again.kin
	"$build/kin-mpi" reduce -q -o two.kin piped.0.kin again.kin piped.1.kin 2>log && return 1
	[ "$(wc -l <log)" = 1 ] && grep -q ": the same recording of rank 0 as" log || return 1
	"$build/kin-mpi" reduce -q -o one.kin piped.0.kin piped.1.kin 2>log && [ ! -s log ] && cmp one.kin two.kin
)
check 'and of recordings that went through a pipe' piped
same_answer() { "$kin" imbalance >a && mv sum.keep sum.kin && "$kin" imbalance sum.kin >b; s=$?; mv sum.kin sum.keep; cmp a b && [ $s = 0 ]; }
rm -f job.kin
check 'kin imbalance: of the sum as of its parts' same_answer

mkdir wall sums
job 3 "$kin" record -q --wall -o wall/profile.kin ./stencil 1 40 >/dev/null
"$kin" merge --sum-ranks -o sums/job.kin wall/profile.*.kin
by_event() { # event
	"$kin" imbalance --event="$1" wall/profile.*.kin >a && "$kin" imbalance --event="$1" sums/job.kin >b
	cmp a b && grep -q '^rank ' a
}
check 'and by event: time on the CPU' by_event task-clock
check 'and time asleep' by_event blocked
no_answer() { # option
	"$kin" imbalance "$1" sums/job.kin 2>err
	[ $? = 2 ] && grep -q 'the sum over ranks, .* for each event as a whole' err
}
check 'but by thread it has no answer, and says so' no_answer --comm=stencil
check 'nor by object' no_answer --object=stencil

# ---- missing ranks and files ----

is_said() { # text: the message of a reduction that fails, but still sums up the other ranks
	rm -f job.kin rest.kin
	job 4 "$build/kin-mpi" reduce profile.*.kin 2>/dev/null
	status=$?
	[ $status = 1 ] && grep -q "$1" log || { echo "status $status"; tail -n 30 log; return 1; }
	"$kin" merge --sum-ranks -o rest.kin profile.*.kin 2>/dev/null
	cmp job.kin rest.kin
}
: >log
mv profile.6.kin away
rm -f job.kin
check 'a file that is missing is said' is_said 'kin-mpi: rank 6 of 8 is missing'
head -c 6000 away >profile.6.kin
: >log
rm -f job.kin rest.kin
check 'one that is cut off' is_said 'profile.6.kin: cut off'
names_it() { # words command...: a report of the other ranks says what is wrong, and which rank is missing
	words=$1
	shift
	"$kin" "$@" >out 2>err
	[ $? = 1 ] && grep -q "$words" err && cat err out | grep -q 'rank 6 of 8 is missing$' && grep -q chemistry out ||
		{ cat err out; return 1; }
}
: >profile.6.kin
: >log
rm -f job.kin rest.kin
check 'one that is empty' is_said 'profile.6.kin: 0 bytes'
rm -f job.kin rest.kin
words='profile.6.kin: 0 bytes are too short'
for c in imbalance 'imbalance -f csv' 'graph --by rank' 'flat --by rank -f csv' 'report --by rank'; do
	# shellcheck disable=SC2086
	check "kin $c: the same" names_it "$words" $c profile.*.kin
	# shellcheck disable=SC2086
	check "kin $c: without names" names_it "$words" $c
done
mkdir folder
cp profile.*.kin folder
check 'kin imbalance: of a folder' names_it "$words" imbalance folder
cp away folder/profile.6.kin
head -c 6000 away >folder/profile.6.kin.4711.0.tmp
all_in_folder() { "$kin" imbalance folder >out 2>err && ! grep -q . err; }
check 'what a killed writer left in it is no recording' all_in_folder
rm -r folder
printf 'nothing of the kind, of a rank' >profile.6.kin
check 'kin imbalance: a file that is something else' names_it 'profile.6.kin: not a profile' imbalance profile.*.kin
"$kin" merge -o rest.kin profile.*.kin 2>/dev/null
keeps_rest() { # readable files are merged, but do not replace an older sum
	"$kin" merge -o rest.kin profile.*.kin 2>err
	[ $? = 1 ] && grep -q 'rest.kin is left as it is' err && "$kin" imbalance rest.kin | grep -q 'rank 6 of 8 is missing$'
}
check 'kin merge: the rest, unless something is there' keeps_rest
rm rest.kin
mv away profile.6.kin
printf 'x' | dd of=profile.4.kin bs=1 seek=5000 conv=notrunc 2>/dev/null
: >log
rm -f job.kin rest.kin
check 'one that is damaged' is_said 'profile.4.kin: damaged'

rm -f ./*.kin
cat >dies.sh <<'END'
i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || kill -9 $$
END
job 3 "$kin" record -q sh dies.sh
: >log
dead_is_said() { job 3 "$build/kin-mpi" reduce; [ $? = 1 ] && grep -q 'kin-mpi: killed by a signal: .*rank 1 (9)' log; }
if [ -e profile.1.kin ]; then
	check 'a rank that died is said' dead_is_said
	imbalance_says() { "$kin" imbalance profile.*.kin 2>&1 | grep -q '^  killed by a signal: .*rank 1 (9)'; }
	check 'and by kin imbalance' imbalance_says
	sum_says() { "$kin" imbalance job.kin 2>&1 | grep -q '^  killed by a signal: .*rank 1 (9)'; }
	check 'and by kin imbalance of their sum' sum_says
else
	skip 'a rank that died is said' 'its recorder was killed, too'
fi
rm -f ./*.kin
cat >dies.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (volatile long i = 0; i < 100000000; i++)
		;
	if (atoi(getenv("OMPI_COMM_WORLD_RANK")) == 1)
		_exit(*(volatile int *)0);
	return 0;
}
END
cc -o dies dies.c
job 3 "$kin" run -q ./dies
not_ended() { "$kin" imbalance $1 2>&1 | grep -q '^  not ended (killed, or still running): .*rank 1'; }
check 'kin run: kin imbalance says that a rank has not ended' not_ended
job 3 "$build/kin-mpi" reduce
check 'and of their sum' not_ended job.kin
leaves_nothing() { # in TMPDIR, where the launcher stops it: a pipe holds it up
	mkdir tmp && mkfifo held || return 1
	sleep 60 >held &
	holder=$!
	TMPDIR=$work/tmp "$build/kin-mpi" reduce -o held.kin - <held 2>log &
	reducer=$!
	for i in $(seq 100); do
		ls tmp | grep -q kin-mpi && break
		sleep .1
	done
	sleep .3
	ls tmp | grep kin-mpi && kill $reducer
	wait $reducer
	status=$?
	kill $holder
	[ $status = 143 ] && ! ls tmp | grep kin-mpi
}
check 'kin-mpi: leaves nothing behind where it is stopped' leaves_nothing
wrong() { job 2 "$build/kin-mpi" "$@"; [ $? = 2 ]; }
check 'no command is an error' wrong
check 'nor is FILE something else than a .kin' wrong reduce -o x.out
shows_help() { [ "$(job 3 "$build/kin-mpi" --help | grep -c '^Usage')" = 1 ]; }
check 'help is printed once' shows_help
rm -f ./*.kin
job 2 "$kin" record ./stencil 1 5 >/dev/null 2>said
next_is() { grep -q 'next: kin imbalance, of all ranks; or of this one kin report profile.0.kin$' log; }
check 'kin record says what is next: kin imbalance' next_is
some_report() { # kin report of one rank's samples
	"$kin" report --rank 1 -s rank --format=csv -g none profile.*.kin >csv 2>err || { cat err; return 1; }
	grep -q '1' csv && [ "$(grep -c . csv)" = 2 ] || { cat csv; return 1; }
}
check 'kin report --rank: that rank alone' some_report
env -u OMPI_COMM_WORLD_RANK "$kin" record -q -o idle/alone.kin idle/busy 1
no_ranks() { job 1 "$build/kin-mpi" reduce -o idle/alone.sum.kin idle/alone.kin; [ $? = 1 ] && grep -q 'no file belongs to a rank' log; }
: >log
check 'kin-mpi: a file of no rank is said' no_ranks
finish
