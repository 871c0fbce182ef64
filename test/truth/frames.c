/* Frames of 8 KiB to 4 MiB and a recursion of thousands of levels, each entered from two functions
 * in turn. They pass on which one they are: under NAME_a leaf_a is called, under NAME_b leaf_b. A
 *sample with both an _a and a _b on its stack has a caller that was not there.
 *
 *	frames UNITS ROUNDS written|empty [WHICH [a]]
 *
 * UNITS: work of a call. ROUNDS: calls of each frame. written, empty: every page of a frame is
 * written, or one. WHICH: this frame alone; a: entered from NAME_a only. */
#include <stdlib.h>

#include "truth.h"

static long units;
static int written;

APART void leaf_a(void)
{
	truth_spin(units);
	truth_sink++;
}
APART void leaf_b(void)
{
	truth_spin(units);
	truth_sink++;
}

static inline __attribute__((always_inline)) void use(char *frame, size_t size, void (*leaf)(void))
{
	for (size_t i = 0; written && i < size; i += 4096)
		((volatile char *)frame)[i] = 1;
	((volatile char *)frame)[0] = 1;
	leaf();
	truth_sink += (unsigned long)frame[0];
}

#define FRAME(name, size)                                                                          \
	APART void name(void (*leaf)(void))                                                        \
	{                                                                                          \
		char frame[size];                                                                  \
		use(frame, size, leaf);                                                            \
	}                                                                                          \
	APART void name##_a(void)                                                                  \
	{                                                                                          \
		name(leaf_a);                                                                      \
		truth_sink++;                                                                      \
	}                                                                                          \
	APART void name##_b(void)                                                                  \
	{                                                                                          \
		name(leaf_b);                                                                      \
		truth_sink++;                                                                      \
	}

FRAME(frame_8k, 8 << 10)
FRAME(frame_16k, 16 << 10)
FRAME(frame_40k, 40 << 10)
FRAME(frame_64k, 64 << 10)
FRAME(frame_200k, 200 << 10)
FRAME(frame_4m, 4 << 20)

APART int recurse(int level, void (*leaf)(void))
{
	volatile char local[48];
	local[0] = (char)level;
	if (level)
		return recurse(level - 1, leaf) + local[0];
	leaf();
	return local[0];
}
APART void deep_a(void)
{
	recurse(4000, leaf_a);
	truth_sink++;
}
APART void deep_b(void)
{
	recurse(4000, leaf_b);
	truth_sink++;
}

int main(int argc, char **argv)
{
	static void (*const calls[][2])(void) = {
		{ frame_8k_a, frame_8k_b },
		{ frame_16k_a, frame_16k_b },
		{ frame_40k_a, frame_40k_b },
		{ frame_64k_a, frame_64k_b },
		{ frame_200k_a, frame_200k_b },
		{ frame_4m_a, frame_4m_b },
		{ deep_a, deep_b },
	};
	if (argc < 4)
		return 2;
	units = atol(argv[1]);
	written = argv[3][0] == 'w';
	for (int i = 0; i < (int)(sizeof(calls) / sizeof(calls[0])); i++) {
		if (argc > 4 && atoi(argv[4]) != i)
			continue;
		long n = 2 * atol(argv[2]);
		for (long k = 0; k < n; k++)
			calls[i][argc > 5 ? 0 : k & 1]();
	}
	return 0;
}
