/* rt_classic.c - the functions that the C library offers to programs compiled with -pg. Its
 * profil() and sprofil() do not concern us and stay the C library's. */
#include "kinrt.h"
#include "rt.h"

#include <errno.h>

RT_EXPORT void __monstartup(unsigned long low, unsigned long high);
RT_EXPORT void monstartup(unsigned long low, unsigned long high);
RT_EXPORT void _mcleanup(void);
RT_EXPORT int moncontrol(int mode);
RT_EXPORT int __moncontrol(int mode);

/* Called by the start-up code of -pg programs, or by a program that wants to be profiled from here
 * on. The address range is ignored: all calls are counted, exactly. */
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

/* Programs may call it to have gmon.out written now. The C library stops counting here, so gmon.out
 * then stays as it is and later data is in the .kin file alone. After monstartup() another gmon.out
 * replaces it, with the data since then; the .kin file has everything. */
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
