/* A function with a large buffer, most of it never touched, called by two functions. */
#include "truth.h"

static long units;

APART void consume(char *buffer)
{
	truth_spin(units);
	truth_sink += (unsigned long)buffer[0];
}

APART void with_buffer(void)
{
	char buffer[40000];
	buffer[0] = (char)units;
	consume(buffer);
	truth_sink += (unsigned long)buffer[0];
}

APART void small_file(void)
{
	units = 3;
	with_buffer();
	truth_sink++;
}
APART void large_file(void)
{
	units = 27;
	with_buffer();
	truth_sink++;
}

int main(void)
{
	double in_small = 0, in_large = 0;

	for (int i = 0; i < 1500; i++) {
		double start = truth_cpu();
		small_file();
		double between = truth_cpu();
		large_file();
		in_small += between - start;
		in_large += truth_cpu() - between;
	}
	truth_inclusive("small_file", in_small);
	truth_inclusive("large_file", in_large);
	truth_arc("small_file", "with_buffer", in_small);
	truth_arc("large_file", "with_buffer", in_large);
	truth_end();
	return 0;
}
