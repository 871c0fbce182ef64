#!/bin/sh
# launchers.sh BUILD - ranks of jobs of other launchers than Open MPI's: with the variables that srun, the mpiexec of MPICH, of
# Intel MPI and of MVAPICH, and PMIx's launchers set; and a real job of MPICH, where its commands are installed.
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") || exit 2
. "$here/../lib/tap.sh"

for v in KIN_OPTIONS TMPDIR $(env | sed -n 's/^\(\(OMPI\|PMI\|PMIX\|SLURM\|MV2\|I_MPI\)_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$v"; done
kin=$build/kin
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
cat >work.c <<'END'
static volatile unsigned n;
__attribute__((noinline)) static void work(void) { for (unsigned i = 0; i < 30000000; i++) n += i; }
int main(void) { work(); return 0; }
END
cc -g -O1 -o work work.c || exit 2

# ---- variables ----

as_rank() { # launcher, rank, ranks, command...
	launcher=$1 r=$2 n=$3
	shift 3
	case $launcher in
	srun) env SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_PROCID="$r" SLURM_LOCALID="$r" SLURM_NTASKS="$n" SLURM_STEP_NUM_TASKS="$n" "$@" ;;
	srun-pmi2) env SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_PROCID="$r" SLURM_NTASKS="$n" SLURM_STEP_NUM_TASKS="$n" PMI_RANK="$r" \
		PMI_SIZE="$n" PMI_FD=9 "$@" ;;
	mpich) env PMI_RANK="$r" PMI_SIZE="$n" PMI_FD=9 MPI_LOCALRANKID="$r" MPI_LOCALNRANKS="$n" "$@" ;;
	intel) env PMI_RANK="$r" PMI_SIZE="$n" PMI_FD=9 I_MPI_HYDRA_UUID=9d260000-7c26-e807-8fb4-050000430af0 "$@" ;;
	mvapich) env MV2_COMM_WORLD_RANK="$r" MV2_COMM_WORLD_SIZE="$n" MV2_COMM_WORLD_LOCAL_RANK="$r" "$@" ;;
	pmix) env PMIX_RANK="$r" PMIX_SIZE="$n" PMIX_NAMESPACE=prterun-1@2 "$@" ;;
	mpiexec-in-srun) env SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMI_RANK="$r" PMI_SIZE="$n" "$@" ;;
	esac
}
job_of() { # launcher: the job id expected in the files; empty: none
	case $1 in
	srun | srun-pmi2) echo 77.1 ;;
	mpiexec-in-srun) echo 77.0 ;;
	pmix) echo prterun-1@2 ;;
	intel) echo 9d260000-7c26-e807-8fb4-050000430af0 ;;
	esac
}
has_rank() { # file, rank, ranks, job
	"$kin" info -f csv "$1" >info 2>err || [ $? = 1 ]
	grep -q "^file,rank,$2" info && grep -q "^file,ranks,$3" info && [ "$(sed -n 's/^file,job,\([^,]*\).*/\1/p' info)" = "$4" ] || {
		cat info err
		return 1
	}
}
ranks_have_files() { # launcher, name before the rank, command...
	who=$1 stem=$2
	shift 2
	rm -f ./*.kin
	for i in 0 1 2; do
		as_rank "$who" $i 3 "$@" >out 2>&1 || { cat out; return 1; }
	done
	# shellcheck disable=SC2012
	[ "$(ls *.kin | tr '\n' ' ')" = "$stem.0.kin $stem.1.kin $stem.2.kin " ] || { ls; return 1; }
	for i in 0 1 2; do
		has_rank "$stem.$i.kin" $i 3 "$(job_of "$who")" || return 1
	done
}
all_of_the_job() { # without file names, reports are of all ranks of the job
	"$kin" flat --by rank -f csv >all.csv 2>err || [ $? = 1 ] || { cat err; return 1; }
	"$kin" imbalance >imbalance 2>>err || [ $? = 1 ] || { cat err; return 1; }
	for i in 0 1 2; do
		grep -q "rank $i" all.csv || { cat all.csv err; return 1; }
	done
}
for l in srun srun-pmi2 mpich intel mvapich pmix mpiexec-in-srun; do
	check "$l: kin record: a file for each rank, that says which" ranks_have_files $l profile "$kin" record -q ./work
	check "$l: reports without names are of all ranks" all_of_the_job
	check "$l: kin run" ranks_have_files $l profile "$kin" run -q ./work
done
if "$kin" cc gcc -pg -g -o linked work.c 2>log; then
	for l in srun mpich; do
		check "$l: linked with libkinrt" ranks_have_files $l kin ./linked
	done
else
	skip 'linked with libkinrt' "$(tail -n 1 log)"
fi
rm -f ./*.kin
batch() { # a script of Slurm's is no rank
	env SLURM_JOB_ID=77 SLURM_PROCID=0 SLURM_NTASKS=4 "$kin" record -q ./work && [ "$(echo ./*.kin)" = ./profile.kin ] || { ls; return 1; }
}
check 'sbatch: the script itself is no rank' batch
wrong() {
	rm -f ./*.kin
	env PMI_RANK=4 PMI_SIZE=4 "$kin" record -q ./work && [ "$(echo ./*.kin)" = ./profile.kin ] || { ls; return 1; }
}
check 'a rank that cannot be is none' wrong

# ---- MPICH itself, which Debian has beside Open MPI ----

for need in mpicc.mpich mpiexec.hydra; do
	if ! command -v $need >/dev/null; then
		skip 'a job of MPICH' "$need is not installed: apt install mpich libmpich-dev"
		finish
	fi
done
rm -f ./*.kin
mpicc.mpich -O2 -g -w -o stencil "$here/stencil.c" || exit 2
job() { # ranks command...
	n=$1
	shift
	timeout 600 mpiexec.hydra -n "$n" "$@" 2>>log </dev/null
}
slow_rank() {
	job 4 "$kin" record -q ./stencil 2 300 >/dev/null || { tail -n 5 log; return 1; }
	for i in 0 1 2 3; do
		has_rank profile.$i.kin $i 4 '' || return 1
	done
	"$kin" imbalance -w 0 >imbalance 2>>log || [ $? = 1 ]
	grep -q '^  rank 2 has most to do outside of MPI' imbalance && grep -q '^  most of that is chemistry:' imbalance || {
		cat imbalance
		return 1
	}
}
check 'MPICH: the slow rank, and why' slow_rank
if [ ! -f "$build/libkin.so" ]; then
	skip 'MPICH: kin-mpi reduce' 'libkin.so was not built'
	finish
fi
mpicc.mpich -w -D_GNU_SOURCE -DKIN_VERSION='"0"' -I"$here/../../include" -I"$here/../../src" -o kin-mpi "$here/../../src/mpi/kin_mpi.c" \
	-L"$build" -lkin -Wl,-rpath,"$build" || exit 2
is_the_sum() { # processes
	rm -f job.kin
	job "$1" "$work/kin-mpi" reduce -q profile.?.kin && "$kin" merge --sum-ranks -o sum.kin profile.?.kin && cmp job.kin sum.kin
}
for n in 1 3 4; do
	check "MPICH: kin-mpi reduce, $n processes: what kin merge --sum-ranks writes" is_the_sum $n
done
finish
