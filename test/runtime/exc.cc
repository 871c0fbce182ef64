// exc - exceptions thrown through counted functions, caught far up and near, rethrown, and in destructors. Prints
// "leaf N": how often leaf() was called.
#include <cstdio>
#include <stdexcept>

static volatile unsigned long sink;
static long made;

extern "C" __attribute__((noinline)) void leaf(void) { sink = sink + 1; }

struct guard {
	~guard()
	{
		leaf();
		made++;
	}
};

__attribute__((noinline)) static void thrower(int depth)
{
	guard g;

	if (!depth)
		throw std::runtime_error("far");
	thrower(depth - 1);
}

__attribute__((noinline)) static void between(int depth)
{
	try {
		thrower(depth);
	} catch (std::exception &) {
		leaf();
		made++;
		throw;
	}
}

int main()
{
	for (int i = 0; i < 2000; i++)
		try {
			between(i % 20);
		} catch (std::runtime_error &e) {
			leaf();
			made++;
		}
	std::printf("leaf %ld\n", made);
}
