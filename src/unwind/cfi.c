/* cfi.c - finds an address's entry in .eh_frame or .debug_frame, and decodes it. */
#include "unwind/cfi.h"

#include "unwind/cfi_private.h"

/* ---- pointers ---- */

enum { /* DW_EH_PE_: LSB 10.5.1 */
       PE_ABSPTR = 0,
       PE_ULEB128 = 1,
       PE_UDATA2 = 2,
       PE_UDATA4 = 3,
       PE_UDATA8 = 4,
       PE_SLEB128 = 9,
       PE_SDATA2 = 10,
       PE_SDATA4 = 11,
       PE_SDATA8 = 12,
       PE_PCREL = 0x10,
       PE_TEXTREL = 0x20,
       PE_DATAREL = 0x30,
       PE_FUNCREL = 0x40,
       PE_ALIGNED = 0x50,
       PE_INDIRECT = 0x80,
       PE_OMIT = 0xff
};

static uint64_t read_value(struct bytes *c, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return bytes_word(c, 8);
	case PE_ULEB128:
		return bytes_uleb(c);
	case PE_UDATA2:
		return bytes_word(c, 2);
	case PE_UDATA4:
		return bytes_word(c, 4);
	case PE_SLEB128:
		return (uint64_t)bytes_sleb(c);
	case PE_SDATA2:
		return (uint64_t)bytes_sword(c, 2);
	case PE_SDATA4:
		return (uint64_t)bytes_sword(c, 4);
	default:
		bytes_fail(c);
		return 0;
	}
}

uint64_t cfi_pointer(struct bytes *c, uint8_t encoding, const struct cfi_bases *b)
{
	uint64_t here = b->addr + (uint64_t)(c->pos - b->start);
	switch (encoding & 0xf0) {
	case 0:
		return read_value(c, encoding);
	case PE_PCREL:
		return here + read_value(c, encoding & 0xf);
	case PE_TEXTREL:
		return b->text + read_value(c, encoding & 0xf);
	case PE_DATAREL:
		return b->data + read_value(c, encoding & 0xf);
	case PE_FUNCREL:
		return b->function + read_value(c, encoding & 0xf);
	case PE_ALIGNED:
		bytes_skip(c, -here & 7);
		return bytes_word(c, 8);
	default: /* indirect ones would have to be read from the process */
		bytes_fail(c);
		return 0;
	}
}

static struct cfi_bases bases_of(const struct cfi_section *s)
{
	struct cfi_bases b = { 0 };
	b.start = s->data;
	b.addr = s->addr;
	b.text = s->text_base;
	b.data = s->data_base;
	return b;
}

/* ---- entries ---- */

struct cfi_entry {
	size_t at, next; /* offsets */
	bool is_cie;
	size_t cie;        /* of an FDE: offset of its CIE */
	struct bytes body; /* what follows the identifier */
};

/* False if there is no entry at that offset. A terminator (length 0) has next = at + 4 and an empty
 * body. */
static bool read_entry(const struct cfi_section *s, size_t at, struct cfi_entry *ret)
{
	if (at >= s->size || s->size - at < 4)
		return false;
	struct bytes c = bytes_of(NULL, s->data + at, s->size - at);
	unsigned width = 4;
	uint64_t length = bytes_word(&c, 4);
	if (length == 0xffffffff) {
		width = 8;
		length = bytes_word(&c, 8);
	}
	if (c.failed || length > bytes_left(&c))
		return false;
	c.end = c.pos + length;
	ret->at = at;
	ret->next = (size_t)(c.end - s->data);
	ret->is_cie = false;
	ret->cie = SIZE_MAX;
	ret->body = c;
	if (!length)
		return true;

	size_t here = (size_t)(c.pos - s->data);
	uint64_t id = bytes_word(&ret->body, width);
	if (ret->body.failed)
		return true;
	uint64_t cie_id = s->debug_frame ? ~(uint64_t)0 >> (64 - 8 * width) : 0;
	ret->is_cie = id == cie_id;
	if (!ret->is_cie)
		ret->cie = s->debug_frame ? (size_t)id : (size_t)(here - id);
	return true;
}

/* ---- CIEs ---- */

enum { LETTERS_MAX = 16 }; /* letters of an augmentation: seven exist */

/* Reads the augmentation: "z", and a letter for each field of the data, in their order. */
static bool read_augmentation(struct bytes *c, const uint8_t *letters,
			      const struct cfi_bases *bases, struct cfi_fde *f)
{
	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	uint64_t length = bytes_uleb(c);
	if (length > bytes_left(c))
		return false;
	struct bytes data = bytes_of(NULL, c->pos, length);
	bytes_skip(c, length);
	f->sized = true;
	while (*++letters) {
		switch (*letters) {
		case 'R':
			f->encoding = bytes_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = bytes_u8(&data);
			if (encoding != PE_OMIT)
				cfi_pointer(&data, encoding & (uint8_t)~PE_INDIRECT, bases);
			break;
		}
		case 'L':
			bytes_u8(&data);
			break;
		case 'S':
			f->signal = true;
			break;
		case 'B': /* aarch64: signed with key B; which key does not matter here */
		case 'G':
			break;
		default: /* something new: the fields behind it cannot be found */
			return true;
		}
	}
	return !data.failed;
}

static bool read_cie(const struct cfi_section *s, size_t at, struct cfi_fde *f)
{
	struct cfi_entry e;
	if (!read_entry(s, at, &e) || !e.is_cie)
		return false;
	struct bytes c = e.body;
	struct cfi_bases bases = bases_of(s);
	uint8_t version = bytes_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return false;
	const uint8_t *letters = c.pos;
	while (bytes_u8(&c))
		if (c.pos - letters > LETTERS_MAX)
			return false;
	if (c.failed)
		return false;
	if (letters[0] == 'e' && letters[1] == 'h') { /* gcc 2: a pointer of its own */
		bytes_skip(&c, 8);
		letters += 2;
	}
	if (version == 4) {
		uint8_t address = bytes_u8(&c), segment = bytes_u8(&c);
		if (address != 8 || segment)
			return false;
	}
	f->cie = at;
	f->code_align = bytes_uleb(&c);
	f->data_align = bytes_sleb(&c);
	uint64_t ra = version == 1 ? bytes_u8(&c) : bytes_uleb(&c);
	f->ra_reg = ra < 0xff ? (uint8_t)ra : 0xff;
	f->encoding = PE_ABSPTR;
	f->signal = f->sized = false;
	if (!read_augmentation(&c, letters, &bases, f) || c.failed)
		return false;
	f->init = c.pos;
	f->init_end = c.end;
	return true;
}

/* ---- FDEs ---- */

static bool read_fde(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_fde *f)
{
	if (e->is_cie || e->cie == SIZE_MAX)
		return false;
	if ((!f->init || f->cie != e->cie) && !read_cie(s, e->cie, f)) {
		f->init = NULL;
		return false;
	}
	struct bytes c = e->body;
	struct cfi_bases bases = bases_of(s);
	f->low = cfi_pointer(&c, f->encoding, &bases);
	uint64_t size = read_value(&c, f->encoding & 0xf);
	f->high = f->low + size;
	if (f->sized)
		bytes_skip(&c, bytes_uleb(&c));
	f->code = c.pos;
	f->code_end = c.end;
	/* A linker that drops a function leaves its entry in .debug_frame, at address 0. */
	return !c.failed && size && f->high > f->low && !(s->debug_frame && !f->low);
}

bool cfi_next(const struct cfi_section *s, size_t *at, struct cfi_fde *ret)
{
	struct cfi_entry e;
	while (read_entry(s, *at, &e)) {
		*at = e.next;
		if (read_fde(s, &e, ret))
			return true;
	}
	return false;
}

/* ---- looking up ---- */

enum { SEARCHABLE = PE_DATAREL | PE_SDATA4 }; /* the only table that linkers make */

struct hdr {
	uint64_t eh_frame;    /* address */
	const uint8_t *table; /* pairs of 32-bit numbers relative to the header: start, entry */
	size_t n;
};

static bool read_hdr(const uint8_t *data, size_t size, uint64_t addr, struct hdr *ret)
{
	struct bytes c = bytes_of(NULL, data, size);
	struct cfi_bases b = { 0 };
	b.start = data;
	b.addr = b.data = addr;
	uint8_t version = bytes_u8(&c), frame = bytes_u8(&c), count = bytes_u8(&c),
		table = bytes_u8(&c);
	if (c.failed || version != 1)
		return false;
	ret->eh_frame = cfi_pointer(&c, frame, &b);
	if (c.failed)
		return false;
	ret->n = 0;
	ret->table = NULL;
	if (count == PE_OMIT || table != SEARCHABLE)
		return true;
	uint64_t n = cfi_pointer(&c, count, &b);
	if (c.failed)
		return true;
	ret->n = n < bytes_left(&c) / 8 ? (size_t)n : bytes_left(&c) / 8;
	ret->table = c.pos;
	return true;
}

static uint64_t table_entry(const struct cfi_section *s, const struct hdr *h, size_t i, int field)
{
	size_t at = 8 * i + 4 * (size_t)field;
	struct bytes c = bytes_of(NULL, h->table + at, 8 * h->n - at);
	return s->hdr_addr + (uint64_t)bytes_sword(&c, 4);
}

static bool find_by_table(const struct cfi_section *s, const struct hdr *h, uint64_t pc,
			  struct cfi_fde *ret)
{
	size_t low = 0, high = h->n; /* the last one that starts at or below pc */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (table_entry(s, h, mid, 0) <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	struct cfi_entry e;
	if (!low || !read_entry(s, (size_t)(table_entry(s, h, low - 1, 1) - s->addr), &e))
		return false;
	return read_fde(s, &e, ret) && ret->low <= pc && pc < ret->high;
}

bool cfi_find(const struct cfi_section *s, uint64_t pc, struct cfi_fde *ret)
{
	struct hdr h;
	ret->init = NULL;
	if (s->hdr && read_hdr(s->hdr, s->hdr_size, s->hdr_addr, &h) && h.table)
		return find_by_table(s, &h, pc, ret);
	for (size_t at = 0; cfi_next(s, &at, ret);)
		if (ret->low <= pc && pc < ret->high)
			return true;
	return false;
}

bool cfi_from_segment(const struct machine *machine, const uint8_t *segment, size_t segment_size,
		      uint64_t segment_addr, uint64_t hdr_addr, size_t hdr_size,
		      struct cfi_section *ret)
{
	struct hdr h;
	uint64_t at = hdr_addr - segment_addr;
	if (at > segment_size || hdr_size > segment_size - at ||
	    !read_hdr(segment + at, hdr_size, hdr_addr, &h))
		return false;
	uint64_t frame = h.eh_frame - segment_addr;
	if (frame >= segment_size)
		return false;
	ret->machine = machine;
	ret->debug_frame = false;
	ret->data = segment + frame;
	ret->size = segment_size - (size_t)frame;
	ret->addr = h.eh_frame;
	ret->hdr = segment + at;
	ret->hdr_size = hdr_size;
	ret->hdr_addr = hdr_addr;
	ret->text_base = ret->data_base = 0;
	return true;
}
