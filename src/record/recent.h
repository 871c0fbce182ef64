/* recent.h - samples in memory: single ones, and a buffer of the most recent.
 *
 * Their modules must outlive them. */
#ifndef RECORD_RECENT_H
#define RECORD_RECENT_H

#include "record/recording.h"

/* A sample, followed in memory by all that it points to. Free it with free(). */
struct kept_sample {
	struct walked_sample of;
	size_t bytes; /* total size */
};
struct kept_sample *kept_sample_new(const struct walked_sample *s);

struct recent;
/* A buffer of `bytes` bytes. */
struct recent *recent_new(size_t bytes);
void recent_free(struct recent *r); /* NULL is fine */

/* If there is no room, the oldest samples are dropped. */
void recent_add(struct recent *r, const struct walked_sample *s);
size_t recent_count(const struct recent *r);
uint64_t recent_dropped(const struct recent *r); /* since the buffer was made */
const struct walked_sample *recent_at(const struct recent *r, size_t i); /* 0: the oldest */
void recent_clear(struct recent *r);

#endif
