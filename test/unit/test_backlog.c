/* Records of a backlog: they come in order and whole, and there is a limit to their memory. */
#include "record/backlog.h"

#include <string.h>

#include "tap.h"

enum { SIZE = 1000, MOST = 3, PER_CHUNK = BACKLOG_CHUNK / SIZE };

static unsigned add_until_full(struct backlog *b, size_t *n_chunks)
{
	unsigned n = 0;
	for (uint8_t *to; (to = backlog_room(b, SIZE, n_chunks, MOST)); n++) {
		memcpy(to, &n, sizeof(n));
		backlog_add(b, SIZE);
	}
	return n;
}

/* How many of the next n records come in order, from number `first` on. */
static unsigned in_order(struct backlog *b, unsigned first, unsigned n)
{
	unsigned i;
	for (i = 0; i < n; i++) {
		unsigned number;
		memcpy(&number, backlog_next(b), sizeof(number));
		if (number != first + i)
			break;
		backlog_skip(b, SIZE);
	}
	return i;
}

int main(void)
{
	struct backlog b = { 0 };
	size_t n_chunks = 0;
	OK(add_until_full(&b, &n_chunks) == MOST * PER_CHUNK);
	OK(n_chunks == MOST);
	OK(in_order(&b, 0, PER_CHUNK + 1) == PER_CHUNK + 1);
	OK(add_until_full(&b, &n_chunks) == PER_CHUNK); /* in the chunk that was read */
	OK(in_order(&b, PER_CHUNK + 1, 2 * PER_CHUNK - 1) == 2 * PER_CHUNK - 1);
	OK(in_order(&b, 0, PER_CHUNK) == PER_CHUNK);
	OK(b.added == b.skipped);
	backlog_free(&b);
	return DONE();
}
