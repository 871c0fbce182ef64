/* The example of the document on Children and Self: main calls foo, foo calls bar; 0, 40 and 60
 * percent. Compiled with frame pointers, which gcc still leaves out of bar: it calls nothing. */
#include "truth.h"

APART void bar(void)
{
	truth_spin(60);
	truth_sink++;
}

APART double foo(void)
{
	truth_spin(40);
	double start = truth_cpu();
	bar();
	return truth_cpu() - start;
}

int main(void)
{
	double in_foo = 0, in_bar = 0;

	for (int i = 0; i < 600; i++) {
		double start = truth_cpu();
		in_bar += foo();
		in_foo += truth_cpu() - start;
	}
	truth_inclusive("foo", in_foo);
	truth_inclusive("bar", in_bar);
	truth_arc("main", "foo", in_foo);
	truth_arc("foo", "bar", in_bar);
	truth_end();
	return 0;
}
