/* kin_encode.c - writes the fields of records, as in kin/format.h. */
#include <string.h>

#include "formats/kin/kin_private.h"

void kinfile_put_u8(struct kinfile_plain *to, uint8_t v) { vec_push(&to->bytes, v); }

void kinfile_put(struct kinfile_plain *to, uint64_t v)
{
	vec_reserve(&to->bytes, 10);
	uint8_t *p = to->bytes.at + to->bytes.n;
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	to->bytes.n = (size_t)(p - to->bytes.at);
}

void kinfile_put_signed(struct kinfile_plain *to, uint64_t v)
{
	kinfile_put(to, v << 1 ^ (v >> 63 ? UINT64_MAX : 0));
}

void kinfile_put_time(struct kinfile_plain *to, uint64_t time_ns)
{
	kinfile_put_signed(to, time_ns - to->time_ns);
	to->time_ns = time_ns;
}

void kinfile_put_text(struct kinfile_plain *to, const void *s, size_t n)
{
	if (n > KIN_MAX_TEXT)
		n = KIN_MAX_TEXT;
	kinfile_put(to, n);
	vec_reserve(&to->bytes, n);
	if (n)
		memcpy(to->bytes.at + to->bytes.n, s, n);
	to->bytes.n += n;
}

void kinfile_put_sample(struct kinfile_plain *to, const struct sample *s, uint32_t end)
{
	const uint32_t levels = FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR;
	bool is_sum = s->count != 1 || s->parallelism;

	kinfile_put(to, s->event);
	kinfile_put(to, s->task);
	kinfile_put(to, s->stack);
	kinfile_put(to, s->cpu == CPU_NONE ? 0 : s->cpu + 1u);
	kinfile_put_time(to, s->time_ns);
	kinfile_put(to, s->weight);
	kinfile_put(to, (s->flags & levels) | end | (is_sum ? KINF_MODE_SUM : 0));
	if (is_sum) {
		kinfile_put(to, s->count);
		kinfile_put(to, s->parallelism);
	}
}
