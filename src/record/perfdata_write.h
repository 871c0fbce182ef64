/* perfdata_write.h - the same samples as a perf.data file, with their stacks already walked, for
 * perf and for tools that read its files.
 *
 * Records that are not samples are the kernel's own; samples have the stack as a call chain and
 * neither registers nor memory. */
#ifndef RECORD_PERFDATA_WRITE_H
#define RECORD_PERFDATA_WRITE_H

#include "object/kernel.h"
#include "record/spaces.h"
#include "record/unwinding.h"

struct kin_error;
struct perfdata;

/* A new file of mode 0600; one that is there is replaced only if it is empty or a perf.data file.
 * `rings` and `kernel` are borrowed. */
struct kin_error *perfdata_open(const char *path, const struct rings *rings, size_t n_events,
				struct kernel *kernel, struct perfdata **ret)
	__attribute__((warn_unused_result));
void perfdata_sample(struct perfdata *p, const struct ring_record *r, struct thread *t,
		     const struct unwound *stack);
void perfdata_other(struct perfdata *p, const struct ring_record *r);
/* What there is gets into the file. */
void perfdata_flush(struct perfdata *p);
/* Says whether all could be written. Consumes p. */
struct kin_error *perfdata_close(struct perfdata *p) __attribute__((warn_unused_result));

#endif
