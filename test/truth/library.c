/* Work in a shared library, and through a call back out of it. Built twice: with LIBRARY the
 * library. */
#include "truth.h"

#ifdef LIBRARY
void transform(void (*each)(void))
{
	truth_spin(30);
	each();
	truth_sink++;
}
#else
void transform(void (*each)(void));

APART void callback(void)
{
	truth_spin(10);
	truth_sink++;
}
APART void prepare(void)
{
	truth_spin(10);
	truth_sink++;
}

int main(void)
{
	double in_library = 0, in_prepare = 0;

	for (int i = 0; i < 1500; i++) {
		double start = truth_cpu();
		prepare();
		double between = truth_cpu();
		transform(callback);
		in_prepare += between - start;
		in_library += truth_cpu() - between;
	}
	truth_inclusive("prepare", in_prepare);
	truth_inclusive("transform", in_library);
	truth_arc("transform", "callback", in_library / 4);
	truth_end();
	return 0;
}
#endif
