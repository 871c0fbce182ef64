/* gprof_program.c - gprof as a program of its own. It starts faster than kin under that name, as
 * less has to be loaded and relocated. */
#include "base/file.h"
#include "gnu/gprof.h"

int main(int argc, char **argv)
{
	file_occupy_standard();
	file_survive_limit();
	return gprof_main(argc, argv);
}
