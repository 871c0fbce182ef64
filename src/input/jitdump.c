/* jitdump.c - parses headers, and the records about code. */
#include "input/jitdump.h"

#include <string.h>

#include "base/base.h"

enum { MAGIC = 0x4a695444, LOAD = 0, MOVE = 1, FRAMES = 4, RECORD = 16 };

uint32_t jitdump_header(struct bytes *b)
{
	b->swap = bytes_left(b) >= 4 && bytes_load(b->pos, 4, false) != MAGIC;
	uint32_t magic = bytes_u32(b);
	bytes_u32(b); /* version */
	uint32_t size = bytes_u32(b);
	return !b->failed && magic == MAGIC && size >= JITDUMP_HEADER ? size : 0;
}

/* u32 pid, tid; u64 vma, address, size, index; name, NUL; code. */
static void read_load(struct bytes *b, struct jitdump_record *r)
{
	bytes_u64(b);
	bytes_u64(b);
	r->addr = bytes_u64(b);
	r->code_size = bytes_u64(b);
	bytes_u64(b);
	r->name = (const char *)b->pos;
	r->name_size = strnlen(r->name, bytes_left(b));
}

/* u32 pid, tid; u64 vma, address before, address now, size, index. */
static void read_move(struct bytes *b, struct jitdump_record *r)
{
	bytes_u64(b);
	bytes_u64(b);
	r->from = bytes_u64(b);
	r->addr = bytes_u64(b);
	r->code_size = bytes_u64(b);
}

/* u64 size of both sections, u64 size of .eh_frame_hdr, u64 mapped size. */
static void read_frames(struct bytes *b, struct jitdump_record *r)
{
	r->frames_size = bytes_u64(b);
	r->frames_hdr_size = bytes_u64(b);
	bytes_u64(b);
}

bool jitdump_next(struct bytes b, struct jitdump_record *ret)
{
	struct jitdump_record r = { .kind = JITDUMP_OTHER };
	uint32_t id = bytes_u32(&b);
	r.size = bytes_u32(&b);
	r.time_ns = bytes_u64(&b);
	if (b.failed || r.size < RECORD)
		return false;
	size_t left = r.size - RECORD;
	b = bytes_take(&b, min_u64(left, bytes_left(&b)));
	if (id == LOAD)
		read_load(&b, &r);
	else if (id == MOVE)
		read_move(&b, &r);
	else if (id == FRAMES)
		read_frames(&b, &r);
	bool has_frames = !b.failed && r.frames_hdr_size <= r.frames_size &&
			  r.frames_size <= left - (JITDUMP_BEFORE_FRAMES - RECORD);
	bool is_whole = !b.failed && r.code_size && r.addr + r.code_size >= r.addr;
	if (is_whole && id == LOAD && r.name_size)
		r.kind = JITDUMP_LOAD;
	else if (is_whole && id == MOVE)
		r.kind = JITDUMP_MOVE;
	else if (has_frames && r.frames_size)
		r.kind = JITDUMP_FRAMES;
	*ret = r;
	return true;
}
