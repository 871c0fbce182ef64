/* What the C library's profiling offers programs compiled with -pg. Its profil() and sprofil() need
 * nothing from us: they stay the C library's. */
#include "kinrt.h"
#include "rt.h"

#include <errno.h>

RT_EXPORT void __monstartup(unsigned long low, unsigned long high);
RT_EXPORT void monstartup(unsigned long low, unsigned long high);
RT_EXPORT void _mcleanup(void);
RT_EXPORT int moncontrol(int mode);
RT_EXPORT int __moncontrol(int mode);

/* From the start-up code of -pg programs, or by a program that wants to be profiled from here on.
 * The range says nothing to us: all calls are counted, exactly. */
void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
	rt.profiled = true;
}

void monstartup(unsigned long low, unsigned long high)
{
	__monstartup(low, high);
	if (rt.gmon_kept)
		rt_gmon_anew();
	rt.gmon_kept = false;
	if (rt.state != RT_NEW)
		kinrt_start();
}

/* Programs may call it to have gmon.out now. It stays as it is then: what they do after that is in
 * the .kin file alone, as the C library stops counting here. After monstartup() another gmon.out
 * takes its place, of what is done from there on; the .kin file has all. */
void _mcleanup(void)
{
	int err = errno;

	kinrt_flush();
	rt.gmon_kept = true;
	errno = err;
}

int __moncontrol(int mode)
{
	if (mode)
		kinrt_start();
	else
		kinrt_stop();
	return 0;
}

int moncontrol(int mode) { return __moncontrol(mode); }
