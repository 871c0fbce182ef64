/* Two callers call one function equally often, one with 94 times the work of the other. */
#include "truth.h"

APART void work(long units)
{
	truth_spin(units);
	truth_sink++;
}
APART void cheap(void)
{
	work(1);
	truth_sink++;
}
APART void dear(void)
{
	work(94);
	truth_sink++;
}

int main(void)
{
	double in_cheap = 0, in_dear = 0;

	for (int i = 0; i < 900; i++) {
		double start = truth_cpu();
		cheap();
		double between = truth_cpu();
		dear();
		in_cheap += between - start;
		in_dear += truth_cpu() - between;
	}
	truth_inclusive("cheap", in_cheap);
	truth_inclusive("dear", in_dear);
	truth_arc("cheap", "work", in_cheap);
	truth_arc("dear", "work", in_dear);
	truth_end();
	return 0;
}
