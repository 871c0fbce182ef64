/* Inline functions of which many units have a copy and the linker keeps one. Compiled once for each UNIT
 * (0 has main), each of which uses another part of them, in another order. */
#include <cstdio>

#ifndef UNIT
#define UNIT 0
#endif
enum { UNITS = 24 };

template <int N> struct mixer {
	unsigned state;
	explicit mixer(unsigned seed) : state(seed * 2654435761u + N)
	{
	}
	inline unsigned step()
	{
		for (int i = 0; i < N; i++)
			state = state * 1664525u + 1013904223u;
		return state >> 16;
	}
	inline unsigned sum(unsigned n)
	{
		unsigned all = 0;
		while (n--)
			all += step();
		return all;
	}
};

inline unsigned low_bits(unsigned v)
{
	return v & 255;
}

inline unsigned folded(unsigned v)
{
	return low_bits(v) ^ low_bits(v >> 8) ^
	       low_bits(v >> 16);
}

template <int N> inline unsigned use(unsigned v)
{
	mixer<N> m(v);
	return folded(m.sum(v % 7)) + use<N - 1>(v + 1);
}

template <> inline unsigned use<0>(unsigned v)
{
	return folded(v);
}

#define GLUE(a, b) a##b
#define NAME(n) GLUE(unit_, n)

unsigned NAME(UNIT)(unsigned v);
static unsigned own(unsigned v) { return use<UNIT % 5 + 30>(v) + use<UNIT * 7 % 40>(v); }

unsigned NAME(UNIT)(unsigned v)
{
	unsigned all = UNIT % 3 ? folded(v) : low_bits(v);
	auto twice = [&](unsigned n) {
		return own(n) +
		       own(n + 1);
	};
	for (unsigned i = 0; i < 40; i++)
		all += twice(v + i);
	return all;
}

#if UNIT == 0
#define EACH(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define DECLARE(n) unsigned NAME(n)(unsigned);
EACH(DECLARE)

int main()
{
	unsigned all = 0;
#define CALL(n) all += NAME(n)(i);
	for (unsigned i = 0; i < 40; i++) {
		CALL(0)
		EACH(CALL)
	}
	printf("%u\n", all);
	return 0;
}
#endif
