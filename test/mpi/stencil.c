/* stencil.c - heat in a rod, divided among ranks: a program whose imbalance is known.
 *
 * stencil [SLOW [STEPS]]: each rank relaxes as many cells; rank SLOW (2 if not given) also burns
 * three times as much in each of them. So chemistry() takes four times as long there, all other
 * work is the same everywhere, and all other ranks wait for that one in exchange() and residual().
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 40000 };

static double old[CELLS + 2], now[CELLS + 2];

__attribute__((noinline)) static void relax(void)
{
	for (int k = 0; k < 20; k++)
		for (int i = 1; i <= CELLS; i++)
			now[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1] + k * 1e-9;
}

__attribute__((noinline)) static void chemistry(int times)
{
	for (int n = 0; n < times; n++)
		for (int k = 0; k < 8; k++)
			for (int i = 1; i <= CELLS; i++)
				now[i] += 1e-12 / (1.0 + now[i] * now[i]);
}

__attribute__((noinline)) static void exchange(int rank, int ranks)
{
	int left = rank ? rank - 1 : MPI_PROC_NULL;
	int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
	MPI_Request r[4];

	MPI_Irecv(&now[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(&now[CELLS + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[1]);
	MPI_Isend(&now[1], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[2]);
	MPI_Isend(&now[CELLS], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[3]);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static double residual(void)
{
	double mine = 0, all = 0;

	for (int i = 1; i <= CELLS; i++)
		mine += (now[i] - old[i]) * (now[i] - old[i]);
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	int rank, ranks;
	double r = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int slow = argc > 1 ? atoi(argv[1]) : 2, steps = argc > 2 ? atoi(argv[2]) : 100;
	for (int i = 0; i < CELLS + 2; i++)
		old[i] = i % 100;
	for (int i = 0; i < steps; i++) {
		relax();
		chemistry(rank == slow ? 4 : 1);
		exchange(rank, ranks);
		r = residual();
		for (int k = 0; k < CELLS + 2; k++)
			old[k] = now[k];
	}
	if (!rank)
		printf("%d ranks, residual %g\n", ranks, r);
	MPI_Finalize();
	return 0;
}
