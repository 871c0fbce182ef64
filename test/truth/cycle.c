/* Mutual recursion that does nest, entered from two places with different depths. */
#include "truth.h"

APART void odd(int depth);

APART void even(int depth)
{
	truth_spin(1);
	if (depth)
		odd(depth - 1);
	truth_sink++;
}

APART void odd(int depth)
{
	truth_spin(9);
	if (depth)
		even(depth - 1);
	truth_sink++;
}

APART void shallow(void)
{
	even(1);
	truth_sink++;
}
APART void deep(void)
{
	even(15);
	truth_sink++;
}

int main(void)
{
	double in_shallow = 0, in_deep = 0;

	for (int i = 0; i < 900; i++) {
		double start = truth_cpu();
		shallow();
		double between = truth_cpu();
		deep();
		in_shallow += between - start;
		in_deep += truth_cpu() - between;
	}
	truth_inclusive("shallow", in_shallow);
	truth_inclusive("deep", in_deep);
	truth_arc("shallow", "even", in_shallow);
	truth_arc("deep", "even", in_deep);
	truth_inclusive("even", in_shallow + in_deep);
	truth_end();
	return 0;
}
