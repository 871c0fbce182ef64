/* walk_record.c - the walker of kin record. */
#include <linux/perf_event.h>
#include <string.h>

#include "base/base.h"
#include "record/unwinding.h"
#include "samples.h"
#include "walks.h"

static struct {
	struct modules *modules;
	struct spaces *spaces;
	struct jit *jit;
	struct unwinding *unwinding;
	struct unwound unwound;
} r;

static void maps(pid_t pid, const struct code_maps *now)
{
	(void)pid, (void)now;
	if (!r.modules) {
		r.modules = modules_new(0);
		r.jit = jit_new();
		r.unwinding = unwinding_new(UNWINDING_AUTO,
					    (struct unwinding_copies){ 16 << 10, COPY_MAX }, r.jit,
					    false);
	}
	spaces_free(r.spaces);
	r.spaces = spaces_new(r.modules, unwinding_release);
}

static void walk(const struct point *p, struct walked *ret)
{
	uint64_t values[SAMPLE_REGISTERS];
	struct perf_sample s = sample_of(p, values);
	struct space *space = spaces_thread(r.spaces, p->pid, p->tid)->space;
	bool guessed = false;

	unwinding_sample(r.unwinding, space, &s, &r.unwound);
	ret->n = 0;
	for (size_t i = 0; i < r.unwound.n && ret->n < WALK_MAX; i++) {
		const struct stack_frame *f = &r.unwound.frames[i];
		guessed |= (f->flags & (KINF_FRAME_MARK | KINF_FRAME_GUESSED)) != 0;
		if (!(f->flags & KINF_FRAME_MARK))
			ret->at[ret->n++] = (struct walk_frame){ f->pc, guessed };
	}
	ret->complete = r.unwound.end == STACK_COMPLETE || r.unwound.end == STACK_GUESSED;
}

static void done(void)
{
	spaces_free(r.spaces);
	unwinding_free(r.unwinding);
	jit_free(r.jit);
	modules_free(r.modules);
}

const struct walker_kind walker_record = { "record", maps, walk, done };
