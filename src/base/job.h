/* job.h - a process's place in a parallel job, from the environment variables of the launchers:
 * mpirun of Open MPI and MPICH, srun of Slurm.
 *
 * Freestanding: the collection runtime uses it, too. */
#ifndef BASE_JOB_H
#define BASE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job {
	uint32_t rank;  /* rank + 1 of this process; 0: it belongs to no job */
	uint32_t ranks; /* number of ranks; 0: not known */
	/* Identifies the job, in at most two parts; NULL: not known. Point into the environment. */
	const char *id, *step;
};

/* A whole number below 2^32 - 1; false if the text is something else. */
static inline bool job_number(const char *text, uint32_t *ret)
{
	uint64_t n = 0;
	const char *at = text;

	for (; at && *at >= '0' && *at <= '9' && n < UINT32_MAX; at++)
		n = n * 10 + (uint64_t)(*at - '0');
	if (!at || at == text || *at || n >= UINT32_MAX)
		return false;
	*ret = (uint32_t)n;
	return true;
}

/* `get` is getenv(), or works like it. The variables of the innermost launcher count: Slurm may
 * have started mpirun. A batch script of Slurm is no rank: it has no number of tasks.
 *
 * MPICH's mpiexec says nothing that is the same for all ranks and differs between jobs: the name of
 * the job's key-value space is told over PMI_FD alone, which belongs to the program. The port that
 * its proxies were started with is the same on all nodes, but another job may get it again, and
 * does where HYDRA_PORT_RANGE is set. */
static inline struct job job_find(const char *(*get)(const char *name))
{
	static const struct {
		const char *rank, *ranks, *id, *step;
		bool needs_ranks, needs_id;
	} launchers[] = {
		{ .rank = "OMPI_COMM_WORLD_RANK",
		  .ranks = "OMPI_COMM_WORLD_SIZE",
		  .id = "PMIX_NAMESPACE" },
		{ .rank = "MV2_COMM_WORLD_RANK",
		  .ranks = "MV2_COMM_WORLD_SIZE",
		  .id = "SLURM_JOB_ID",
		  .step = "SLURM_STEP_ID" },
		{ .rank = "PMI_RANK",
		  .ranks = "PMI_SIZE",
		  .id = "I_MPI_HYDRA_UUID",
		  .needs_id = true },
		{ .rank = "PMI_RANK",
		  .ranks = "PMI_SIZE",
		  .id = "SLURM_JOB_ID",
		  .step = "SLURM_STEP_ID" },
		{ .rank = "SLURM_PROCID",
		  .ranks = "SLURM_STEP_NUM_TASKS",
		  .id = "SLURM_JOB_ID",
		  .step = "SLURM_STEP_ID",
		  .needs_ranks = true },
		{ .rank = "PMIX_RANK", .ranks = "PMIX_SIZE", .id = "PMIX_NAMESPACE" },
	};
	struct job job = { 0, 0, NULL, NULL };

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		uint32_t rank, ranks = 0;
		bool known = job_number(get(launchers[i].ranks), &ranks);
		if (!job_number(get(launchers[i].rank), &rank) ||
		    (launchers[i].needs_ranks && !known) ||
		    (launchers[i].needs_id && !get(launchers[i].id)) || (ranks && rank >= ranks))
			continue;
		job.rank = rank + 1;
		job.ranks = ranks;
		job.id = get(launchers[i].id);
		job.step = job.id && launchers[i].step ? get(launchers[i].step) : NULL;
		break;
	}
	return job;
}

/* Whether a file name, [0, n) without its folder, contains the number already: "out.12.kin" has 12.
 */
static inline bool job_is_named(const char *name, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n;) {
		uint64_t found = 0;
		size_t digits = 0;
		for (; i < n && name[i] >= '0' && name[i] <= '9'; i++, digits++)
			found = digits < 10 ? found * 10 + (uint64_t)(name[i] - '0') : UINT64_MAX;
		if (digits && found == number)
			return true;
		i += !digits;
	}
	return false;
}

#endif
