/* callgrind.c - callgrind.out: Valgrind's callgrind writes it; KCachegrind, QCachegrind and
 * callgrind_annotate read it. */
#include "formats/callgrind/callgrind.h"

const struct format callgrind_format = {
	.about = { .name = "callgrind",
		   .what = "callgrind.out: for KCachegrind and callgrind_annotate",
		   .endings = (const char *const[]){ "callgrind.out", ".callgrind", NULL },
		   .is_written = true },
	.write = callgrind_write,
};
