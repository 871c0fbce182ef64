/* A walk through a tree; the cost of a leaf depends on the function that started the walk. */
#include "truth.h"

static long units;

APART void leaf(void)
{
	truth_spin(units);
	truth_sink++;
}

APART void walk(int height)
{
	if (!height) {
		leaf();
	} else {
		walk(height - 1);
		walk(height - 1);
	}
	truth_sink++;
}

APART void thorough(void)
{
	units = 30;
	walk(4);
	truth_sink++;
}
APART void quick(void)
{
	units = 2;
	walk(4);
	truth_sink++;
}

int main(void)
{
	double in_thorough = 0, in_quick = 0;

	for (int i = 0; i < 150; i++) {
		double start = truth_cpu();
		thorough();
		double between = truth_cpu();
		quick();
		in_thorough += between - start;
		in_quick += truth_cpu() - between;
	}
	truth_inclusive("thorough", in_thorough);
	truth_inclusive("quick", in_quick);
	truth_arc("thorough", "walk", in_thorough);
	truth_arc("quick", "walk", in_quick);
	truth_inclusive("leaf", in_thorough + in_quick);
	truth_end();
	return 0;
}
