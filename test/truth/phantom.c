/* A dispatcher between two handlers: by the arcs alone, first, dispatch and second are a cycle, but
 * no stack has any of them twice. */
#include "truth.h"

typedef void handler(int depth);

static volatile int never;

APART void dispatch(handler *to, int depth)
{
	to(depth);
	truth_sink++;
}
APART void second(int depth);

APART void first(int depth)
{
	truth_spin(5);
	if (depth)
		dispatch(second, depth - 1);
	truth_sink++;
}

APART void second(int depth)
{
	truth_spin(20);
	if (depth)
		dispatch(first, depth - 1);
	truth_sink++;
}

int main(void)
{
	double from_first = 0, from_second = 0, alone = 0;

	for (int i = 0; i < 1200; i++) {
		double start = truth_cpu();
		first(1); /* 5 + 20 */
		double then = truth_cpu();
		second(1); /* 20 + 5 */
		double last = truth_cpu();
		first(0);
		from_first += then - start;
		from_second += last - then;
		alone += truth_cpu() - last;
	}
	truth_arc("main", "first", from_first + alone);
	truth_arc("main", "second", from_second);
	truth_arc("first", "dispatch", from_first * 20 / 25);
	truth_arc("second", "dispatch", from_second * 5 / 25);
	truth_inclusive("dispatch", from_first * 20 / 25 + from_second * 5 / 25);
	truth_end();
	return 0;
}
