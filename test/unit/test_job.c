/* Ranks of parallel jobs, by the variables of those who start them: Open MPI, MVAPICH, MPICH
 * (Hydra), Slurm, PMIx; as their documentation and their processes' environments have them. */
#include "tap.h"

#include <string.h>

#include "base/job.h"

static const char *const *environment; /* name, value, ...; NULL */

static const char *get(const char *name)
{
	for (const char *const *e = environment; *e; e += 2)
		if (!strcmp(*e, name))
			return e[1];
	return NULL;
}

static struct job job_of(const char *const *e)
{
	environment = e;
	return job_find(get);
}
#define JOB(...) job_of((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static bool is_job(struct job job, uint32_t rank, uint32_t ranks, const char *id, const char *step)
{
	bool same = job.rank == rank + 1 && job.ranks == ranks && !job.id == !id &&
		    !job.step == !step && (!id || !strcmp(job.id, id)) &&
		    (!step || !strcmp(job.step, step));
	if (!same)
		printf("# rank %u - 1 of %u, job %s, step %s\n", job.rank, job.ranks,
		       job.id ? job.id : "none", job.step ? job.step : "none");
	return same;
}

static void launchers(void)
{
	OK(is_job(JOB("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "8", "PMIX_NAMESPACE",
		      "1234.1"),
		  3, 8, "1234.1", NULL));
	OK(is_job(JOB("PMI_RANK", "0", "PMI_SIZE", "4"), 0, 4, NULL, NULL)); /* mpiexec.hydra */
	OK(is_job(JOB("PMI_RANK", "2", "PMI_SIZE", "4", "SLURM_PROCID", "2", "SLURM_STEP_NUM_TASKS",
		      "4", "SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0"),
		  2, 4, "77", "0")); /* srun --mpi=pmi2 */
	OK(is_job(JOB("PMI_RANK", "1", "PMI_SIZE", "2", "I_MPI_HYDRA_UUID", "9d260000-7c26"), 1, 2,
		  "9d260000-7c26", NULL)); /* Intel MPI */
	OK(is_job(JOB("PMI_RANK", "1", "PMI_SIZE", "2", "I_MPI_HYDRA_UUID", "9d260000-7c26",
		      "SLURM_JOB_ID", "77"),
		  1, 2, "9d260000-7c26", NULL)); /* one of several jobs in a batch script */
	OK(is_job(JOB("SLURM_PROCID", "5", "SLURM_STEP_NUM_TASKS", "6", "SLURM_JOB_ID", "77",
		      "SLURM_STEP_ID", "1"),
		  5, 6, "77", "1"));
	OK(is_job(JOB("MV2_COMM_WORLD_RANK", "1", "MV2_COMM_WORLD_SIZE", "2"), 1, 2, NULL, NULL));
	OK(is_job(JOB("PMIX_RANK", "1", "PMIX_NAMESPACE", "n"), 1, 0, "n", NULL));
}

static void nearest(void)
{
	/* mpirun in a job of Slurm: its own numbers, on each of the nodes that srun went to. */
	OK(is_job(JOB("SLURM_PROCID", "1", "SLURM_STEP_NUM_TASKS", "2", "OMPI_COMM_WORLD_RANK",
		      "13", "OMPI_COMM_WORLD_SIZE", "16"),
		  13, 16, NULL, NULL));
	OK(is_job(JOB("SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "PMI_RANK", "7", "PMI_SIZE",
		      "8"),
		  7, 8, NULL, NULL));
}

static void no_job(void)
{
	OK(JOB().rank == 0);
	OK(JOB("SLURM_PROCID", "0", "SLURM_JOB_ID", "77").rank == 0); /* a batch script */
	OK(JOB("PMI_RANK", "4", "PMI_SIZE", "4").rank == 0);
	OK(JOB("PMI_RANK", "-1").rank == 0);
	OK(JOB("PMI_RANK", "1x").rank == 0);
	OK(JOB("PMI_RANK", "").rank == 0);
	OK(JOB("PMI_RANK", "4294967295").rank == 0);
	OK(JOB("PMI_RANK", "99999999999999999999").rank == 0);
}

static void names(void)
{
	OK(job_is_named("out.12.kin", 10, 12) && !job_is_named("out.12.kin", 10, 1));
	OK(job_is_named("7", 1, 7) && !job_is_named("", 0, 0));
	OK(!job_is_named("x99999999999999", 15, 99));
}

int main(void)
{
	launchers();
	nearest();
	no_job();
	names();
	return DONE();
}
