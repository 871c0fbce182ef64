// throws.cc - a hundred thousand exceptions through four frames, some thrown on again
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "../lib/burn.h"

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;
extern "C" NOINLINE void leaf() { sink++; }

extern "C" {
BURN(hot_a, i ^ sink)
}

struct Counted {
	~Counted() { sink++; }
};

NOINLINE void e4(int i)
{
	Counted c;
	leaf();
	if (i % 3)
		throw std::runtime_error("no");
	throw i;
}

NOINLINE void e3(int i)
{
	Counted c;
	e4(i);
	sink++;
}

NOINLINE void e2(int i)
{
	Counted c;
	try {
		e3(i);
	} catch (int) {
		throw;
	}
	sink++;
}

NOINLINE void e1(int i)
{
	e2(i);
	sink++;
}

int main(int argc, char **argv)
{
	long n = 0;
	for (int i = 0; i < 100000; i++) {
		try {
			e1(i);
		} catch (const std::exception &) {
			n++;
		} catch (int) {
			n += 2;
		}
	}
	hot_a(argc > 1 ? std::atoi(argv[1]) / 1e3 : 0.06);
	std::printf("n %ld\n", n);
	return 0;
}
