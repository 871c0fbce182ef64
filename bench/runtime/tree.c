/* tree N - a program that does little but call: a binary tree is built, walked, searched and freed
 * through small functions and function pointers, N times. Prints a checksum. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

struct node {
	struct node *child[2];
	unsigned key;
};
static struct node pool[1 << 16];
static unsigned used, seed = 1;

NOINLINE static unsigned next(void) { return seed = seed * 1664525u + 1013904223u; }
NOINLINE static unsigned mix(unsigned x) { return (x ^ x >> 16) * 0x45d9f3bu; }
NOINLINE static int side(const struct node *n, unsigned key) { return key > n->key; }
NOINLINE static struct node *make(unsigned key)
{
	struct node *n = &pool[used++];

	*n = (struct node){ .key = key };
	return n;
}

NOINLINE static struct node *insert(struct node *n, unsigned key)
{
	int s;

	if (!n)
		return make(key);
	s = side(n, key);
	n->child[s] = insert(n->child[s], key);
	return n;
}

NOINLINE static unsigned add(unsigned a, unsigned b) { return a + mix(b); }
NOINLINE static unsigned exclude(unsigned a, unsigned b) { return a ^ mix(b); }

NOINLINE static unsigned walk(const struct node *n, unsigned (*f)(unsigned, unsigned), unsigned sum)
{
	if (!n)
		return sum;
	sum = walk(n->child[0], f, sum);
	sum = f(sum, n->key);
	return walk(n->child[1], f, sum);
}

NOINLINE static const struct node *find(const struct node *n, unsigned key)
{
	while (n && n->key != key)
		n = n->child[side(n, key)];
	return n;
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 10; i > 0; i--) {
		struct node *root = NULL;

		used = 0;
		while (used < 1 << 15)
			root = insert(root, mix(next()));
		sum = walk(root, i & 1 ? add : exclude, sum);
		for (unsigned k = 0; k < 1 << 15; k++)
			sum += find(root, pool[k].key) != NULL;
	}
	printf("%u\n", sum);
	return 0;
}
