/* A deep recursion, which two functions enter in turn: all its levels look alike, and only the
 * return address of the outermost level shows which of the two entered it. */
#include "truth.h"

enum { LEVELS = 400 };

static int mode;

APART void decode(void)
{
	truth_spin(20);
	truth_sink++;
}
APART void encode(void)
{
	truth_spin(20);
	truth_sink++;
}

APART int walk(int level)
{
	volatile char local[48];
	local[0] = (char)level;
	if (level)
		return walk(level - 1) + local[0];
	if (mode)
		encode();
	else
		decode();
	return local[0];
}

APART void load(void)
{
	mode = 0;
	walk(LEVELS);
	truth_sink++;
}
APART void save(void)
{
	mode = 1;
	walk(LEVELS);
	truth_sink++;
}

int main(void)
{
	double in_load = 0, in_save = 0;

	for (int i = 0; i < 1500; i++) {
		double start = truth_cpu();
		load();
		double between = truth_cpu();
		save();
		in_load += between - start;
		in_save += truth_cpu() - between;
	}
	truth_inclusive("load", in_load);
	truth_inclusive("save", in_save);
	truth_inclusive("decode", in_load);
	truth_inclusive("encode", in_save);
	truth_arc("load", "walk", in_load);
	truth_arc("save", "walk", in_save);
	truth_end();
	return 0;
}
