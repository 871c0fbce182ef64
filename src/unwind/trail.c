/* trail.c - keeps the frames of a thread's last walk. */
#include "unwind/trail.h"

#include <string.h>

void unwind_trail_free(struct unwind_trail *t)
{
	free(t->at);
	vec_free(&t->made);
	*t = (struct unwind_trail){ 0 };
}

/* Makes room for n frames before `same`, and returns its index. It is moved only if there is too
 * little room. */
static size_t make_room(struct unwind_trail *t, size_t same, size_t n)
{
	if (n <= same)
		return same;
	size_t kept = t->end - same, end = 2 * (n + kept);
	struct trail_step *at = xrealloc(NULL, end, sizeof(*at));
	if (kept)
		memcpy(at + end - kept, t->at + same, kept * sizeof(*at));
	free(t->at);
	t->at = at;
	t->end = end;
	return end - kept;
}

void unwind_trail_keep(struct unwind_trail *t, size_t same, uint64_t code)
{
	same = make_room(t, same, t->made.n);
	t->first = same - t->made.n;
	if (t->made.n)
		memcpy(t->at + t->first, t->made.at, t->made.n * sizeof(*t->at));
	t->code = code;
}
