/* guard.h - calls that return an error when memory runs out, instead of ending the program.
 *
 *	struct kin_error *kin_x(...) { return GUARDED(x(...)); }
 *
 * Inside, a failing xalloc() leaves the call at once, by a jump: whatever the call had allocated,
 * opened or locked stays so. Guards are therefore for the outermost functions, those of the public
 * interface and of threads; the objects they were working on can only be freed. A guard holds for
 * its own thread. */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include <setjmp.h>

#include "base/base.h"

struct kin_error;

struct guard {
	jmp_buf back;
	struct guard *outer;
};

void guard_begin(struct guard *g);
void guard_end(struct guard *g);
bool guard_is_on(void);
/* The out-of-memory error, which needs no memory. */
struct kin_error *guard_error(void);

/* The value of `call`, a struct kin_error *, or guard_error(). */
#define GUARDED(call)                                                                              \
	({                                                                                         \
		struct guard guard_;                                                               \
		struct kin_error *volatile guarded_;                                               \
		guard_begin(&guard_);                                                              \
		if (setjmp(guard_.back))                                                           \
			guarded_ = guard_error();                                                  \
		else                                                                               \
			guarded_ = (call);                                                         \
		guard_end(&guard_);                                                                \
		guarded_;                                                                          \
	})

#endif
