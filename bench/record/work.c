/* work.c - fixed work in C with recursion, qsort's callbacks and a hash table; prints the CPU
 * seconds it took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 20000, SLOTS = 1 << 15 };

struct node {
	struct node *left, *right;
	unsigned key;
};

static struct node *insert(struct node *n, unsigned key)
{
	if (!n) {
		n = calloc(1, sizeof(*n));
		n->key = key;
		return n;
	}
	if (key < n->key)
		n->left = insert(n->left, key);
	else
		n->right = insert(n->right, key);
	return n;
}

static unsigned long sum(const struct node *n)
{
	return n ? n->key + sum(n->left) + sum(n->right) : 0;
}

static void drop(struct node *n)
{
	if (!n)
		return;
	drop(n->left);
	drop(n->right);
	free(n);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static unsigned long words(void)
{
	static char text[N][16];
	static const char *order[N];
	unsigned long total = 0;
	for (unsigned i = 0; i < N; i++) {
		snprintf(text[i], sizeof(text[i]), "w%u", i * 2654435761u % 5000);
		order[i] = text[i];
	}
	qsort(order, N, sizeof(order[0]), by_text);
	for (unsigned i = 0; i < N; i++)
		total = total * 31 + (unsigned char)order[i][1];
	return total;
}

static unsigned long table(void)
{
	static unsigned slots[SLOTS];
	unsigned long probes = 0;
	memset(slots, 0, sizeof(slots));
	for (unsigned i = 1; i < N; i++) {
		unsigned at = i * 2654435761u >> 17;
		while (slots[at % SLOTS]) {
			at++;
			probes++;
		}
		slots[at % SLOTS] = i;
	}
	return probes;
}

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* work ROUNDS [each]: prints its CPU time; when it ended each round. */
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	unsigned long total = 0;
	for (int i = 0; i < rounds; i++) {
		struct node *tree = NULL;
		for (unsigned k = 0; k < N; k++)
			tree = insert(tree, k * 2654435761u);
		total += sum(tree) + words() + table();
		drop(tree);
		if (argc > 2)
			printf("%.6f\n", seconds(CLOCK_MONOTONIC));
	}
	printf("%.6f %lu\n", seconds(CLOCK_PROCESS_CPUTIME_ID), total);
	return 0;
}
