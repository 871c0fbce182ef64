/* step.c - a program in step with a clock: step [HZ [SECONDS]]. Each period of its own CPU time is
 * one fifth in brief(), and four fifths in lengthy(). */
#include <stdlib.h>

#include "truth.h"

static inline __attribute__((always_inline)) double until(double end)
{
	unsigned long s = truth_sink;
	double now;
	while ((now = truth_cpu()) < end)
		for (unsigned long i = 0; i < 3000; i++)
			s += i ^ (s >> 3);
	truth_sink = s;
	return now;
}

APART double brief(double end) { return until(end); }
APART double lengthy(double end) { return until(end); }

int main(int argc, char **argv)
{
	double period = 1 / atof(argc > 1 ? argv[1] : "999"), in_brief = 0, in_lengthy = 0;
	double seconds = atof(argc > 2 ? argv[2] : "2"), start = truth_cpu(), now = start;
	for (double next = start; next < start + seconds; next += period) {
		double middle = brief(next + period / 5);
		in_brief += middle - now;
		now = lengthy(next + period);
		in_lengthy += now - middle;
	}
	truth_inclusive("brief", in_brief);
	truth_inclusive("lengthy", in_lengthy);
	truth_end();
	return 0;
}
