/* Functions of the source that are none in the program: a template and its two uses, inlined into
 * one function. */
#include "truth.h"

template <int Units> struct task {
	void small() const { truth_spin(Units); }
	void large() const { truth_spin(3 * Units); }
};

static inline __attribute__((always_inline)) void simple_part(void) { task<5>().small(); }
static inline __attribute__((always_inline)) void costly_part(void) { task<15>().large(); }

static double in_simple, in_costly;

APART void both(void)
{
	double start = truth_cpu();
	simple_part();
	double between = truth_cpu();
	costly_part();
	in_simple += between - start;
	in_costly += truth_cpu() - between;
}

int main()
{
	for (int i = 0; i < 1600; i++)
		both();
	truth_inclusive("simple_part", in_simple);
	truth_inclusive("costly_part", in_costly);
	truth_inclusive("both", in_simple + in_costly);
	truth_end();
}
