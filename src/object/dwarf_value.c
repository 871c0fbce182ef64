/* dwarf_value.c - values of DWARF attributes in all forms, also by index. */
#include <dwarf.h>
#include <string.h>

#include "object/dwarf_info.h"

/* ---- strings and addresses by index ---- */

static const char *string_in(struct section s, uint64_t offset)
{
	if (offset >= s.size)
		return NULL;
	/* If a section ends in NUL, every string in it has an end. */
	if (s.data[s.size - 1] && !memchr(s.data + offset, 0, s.size - offset))
		return NULL;
	return (const char *)s.data + offset;
}

/* Element i of an array in a section. */
static bool element(struct section s, uint64_t base, uint64_t i, unsigned size, bool swap,
		    uint64_t *ret)
{
	if (!size || i > s.size / size || base > s.size)
		return false;
	struct bytes c = section_at(s, base + i * size, swap);
	*ret = bytes_word(&c, size);
	return !c.failed;
}

const char *dwarf_value_string(const struct dwarf_file *f, const struct dwarf_unit *u,
			       const struct dwarf_value *v)
{
	uint64_t offset;
	if (v->kind != VALUE_STRING)
		return NULL;
	if (!v->indexed)
		return v->string;
	if (!element(f->str_offsets, u->str_offsets_base, v->number, u->offset_size, f->swap,
		     &offset))
		return NULL;
	return string_in(f->str, offset);
}

bool dwarf_value_address(const struct dwarf_file *f, const struct dwarf_unit *u,
			 const struct dwarf_value *v, uint64_t *ret)
{
	if (v->kind != VALUE_ADDRESS)
		return false;
	if (v->indexed)
		return element(f->addr, u->addr_base, v->number, u->address_size, f->swap, ret);
	*ret = v->number;
	return true;
}

/* ---- forms ---- */

static struct dwarf_value number(uint64_t n)
{
	return (struct dwarf_value){ .kind = VALUE_NUMBER, .number = n };
}

static struct dwarf_value string(const char *s)
{
	return (struct dwarf_value){ .kind = s ? VALUE_STRING : VALUE_NONE, .string = s };
}

static struct dwarf_value index_of(int kind, uint64_t i)
{
	return (struct dwarf_value){ .kind = kind, .indexed = true, .number = i };
}

static struct dwarf_value block(struct bytes *c, uint64_t size)
{
	bytes_skip(c, size);
	return (struct dwarf_value){ 0 };
}

static struct dwarf_value read_indexed(struct bytes *c, uint64_t form)
{
	switch (form) {
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return index_of(VALUE_STRING, bytes_uleb(c));
	case DW_FORM_strx1:
		return index_of(VALUE_STRING, bytes_u8(c));
	case DW_FORM_strx2:
		return index_of(VALUE_STRING, bytes_u16(c));
	case DW_FORM_strx3:
		return index_of(VALUE_STRING, bytes_u24(c));
	case DW_FORM_strx4:
		return index_of(VALUE_STRING, bytes_u32(c));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return index_of(VALUE_ADDRESS, bytes_uleb(c));
	case DW_FORM_addrx1:
		return index_of(VALUE_ADDRESS, bytes_u8(c));
	case DW_FORM_addrx2:
		return index_of(VALUE_ADDRESS, bytes_u16(c));
	case DW_FORM_addrx3:
		return index_of(VALUE_ADDRESS, bytes_u24(c));
	case DW_FORM_addrx4:
		return index_of(VALUE_ADDRESS, bytes_u32(c));
	case DW_FORM_rnglistx:
		return index_of(VALUE_RANGES_INDEX, bytes_uleb(c));
	case DW_FORM_loclistx:
		bytes_uleb(c);
		return (struct dwarf_value){ 0 };
	}
	bytes_fail(c);
	return (struct dwarf_value){ 0 };
}

static struct dwarf_value read_reference(const struct dwarf_info *d, const struct dwarf_file *f,
					 const struct dwarf_unit *u, struct bytes *c, uint64_t form)
{
	struct dwarf_value v = { .kind = VALUE_ENTRY, .alt = f == &d->alt, .number = u->offset };
	switch (form) {
	case DW_FORM_ref1:
		v.number += bytes_u8(c);
		return v;
	case DW_FORM_ref2:
		v.number += bytes_u16(c);
		return v;
	case DW_FORM_ref4:
		v.number += bytes_u32(c);
		return v;
	case DW_FORM_ref8:
		v.number += bytes_u64(c);
		return v;
	case DW_FORM_ref_udata:
		v.number += bytes_uleb(c);
		return v;
	case DW_FORM_ref_addr:
		v.number = bytes_word(c, u->version <= 2 ? u->address_size : u->offset_size);
		return v;
	case DW_FORM_GNU_ref_alt:
		v.alt = true;
		v.number = bytes_word(c, u->offset_size);
		return v;
	case DW_FORM_ref_sup4:
		v.alt = true;
		v.number = bytes_u32(c);
		return v;
	case DW_FORM_ref_sup8:
		v.alt = true;
		v.number = bytes_u64(c);
		return v;
	case DW_FORM_ref_sig8: /* types only */
		return block(c, 8);
	}
	return read_indexed(c, form);
}

struct dwarf_value dwarf_value_read(const struct dwarf_info *d, const struct dwarf_file *f,
				    const struct dwarf_unit *u, struct bytes *c, uint64_t form,
				    int64_t implicit)
{
	while (form == DW_FORM_indirect && !c->failed)
		form = bytes_uleb(c);
	switch (form) {
	case DW_FORM_addr:
		return (struct dwarf_value){ .kind = VALUE_ADDRESS,
					     .number = bytes_word(c, u->address_size) };
	case DW_FORM_data1:
	case DW_FORM_flag:
		return number(bytes_u8(c));
	case DW_FORM_data2:
		return number(bytes_u16(c));
	case DW_FORM_data4:
		return number(bytes_u32(c));
	case DW_FORM_data8:
		return number(bytes_u64(c));
	case DW_FORM_data16:
		return block(c, 16);
	case DW_FORM_udata:
		return number(bytes_uleb(c));
	case DW_FORM_sdata:
		return number((uint64_t)bytes_sleb(c));
	case DW_FORM_flag_present:
		return number(1);
	case DW_FORM_implicit_const:
		return number((uint64_t)implicit);
	case DW_FORM_sec_offset:
		return number(bytes_word(c, u->offset_size));
	case DW_FORM_string:
		return string(bytes_str(c));
	case DW_FORM_strp:
		return string(string_in(f->str, bytes_word(c, u->offset_size)));
	case DW_FORM_line_strp:
		return string(string_in(f->line_str, bytes_word(c, u->offset_size)));
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return string(string_in(d->alt.str, bytes_word(c, u->offset_size)));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return block(c, bytes_uleb(c));
	case DW_FORM_block1:
		return block(c, bytes_u8(c));
	case DW_FORM_block2:
		return block(c, bytes_u16(c));
	case DW_FORM_block4:
		return block(c, bytes_u32(c));
	}
	return read_reference(d, f, u, c, form);
}

/* ---- ranges ---- */

static void add_range(struct dwarf_info *d, struct address_ranges *l, uint64_t low, uint64_t high)
{
	/* Entries may share lists: ranges beyond what the unit's size justifies are not read. */
	if (low >= high || !d->ranges_left)
		return;
	d->ranges_left--;
	vec_push(l, ((struct address_range){ low, high }));
}

static void read_old_list(struct dwarf_info *d, const struct dwarf_file *f,
			  const struct dwarf_unit *u, uint64_t offset, struct address_ranges *ret)
{
	struct bytes c = section_at(f->ranges, offset, f->swap);
	uint64_t base = u->low, select = u->address_size == 8 ? UINT64_MAX : UINT32_MAX;
	while (!c.failed && d->ranges_left) {
		uint64_t low = bytes_word(&c, u->address_size);
		uint64_t high = bytes_word(&c, u->address_size);
		if (c.failed || (!low && !high))
			break;
		if (low == select)
			base = high;
		else
			add_range(d, ret, base + low, base + high);
	}
}

static uint64_t indexed_address(struct dwarf_info *d, const struct dwarf_file *f,
				const struct dwarf_unit *u, struct bytes *c)
{
	struct dwarf_value v = index_of(VALUE_ADDRESS, bytes_uleb(c));
	d->indexed_ranges = true;
	uint64_t addr = 0;
	if (!dwarf_value_address(f, u, &v, &addr))
		bytes_fail(c);
	return addr;
}

static void read_list(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      uint64_t offset, struct address_ranges *ret)
{
	struct bytes c = section_at(f->rnglists, offset, f->swap);
	uint64_t base = u->low;
	while (!c.failed && d->ranges_left) {
		uint64_t low = 0, high = 0;
		switch (bytes_u8(&c)) {
		case DW_RLE_base_addressx:
			base = indexed_address(d, f, u, &c);
			continue;
		case DW_RLE_startx_endx:
			low = indexed_address(d, f, u, &c);
			high = indexed_address(d, f, u, &c);
			break;
		case DW_RLE_startx_length:
			low = indexed_address(d, f, u, &c);
			high = low + bytes_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			low = base + bytes_uleb(&c);
			high = base + bytes_uleb(&c);
			break;
		case DW_RLE_base_address:
			base = bytes_word(&c, u->address_size);
			continue;
		case DW_RLE_start_end:
			low = bytes_word(&c, u->address_size);
			high = bytes_word(&c, u->address_size);
			break;
		case DW_RLE_start_length:
			low = bytes_word(&c, u->address_size);
			high = low + bytes_uleb(&c);
			break;
		default: /* the end of the list, or an unknown kind */
			return;
		}
		if (!c.failed)
			add_range(d, ret, low, high);
	}
}

void dwarf_ranges_read(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		       const struct dwarf_value *low, const struct dwarf_value *high,
		       const struct dwarf_value *ranges, struct address_ranges *ret)
{
	uint64_t start, end = 0;
	if (high->kind != VALUE_NONE && dwarf_value_address(f, u, low, &start)) {
		if (high->kind == VALUE_NUMBER)
			end = start + high->number;
		else
			dwarf_value_address(f, u, high, &end);
		add_range(d, ret, start, end);
	}
	if (ranges->kind == VALUE_RANGES_INDEX) {
		bool before = d->indexed_ranges;
		uint64_t offset;
		if (element(f->rnglists, u->ranges_base, ranges->number, u->offset_size, f->swap,
			    &offset))
			read_list(d, f, u, u->ranges_base + offset, ret);
		d->indexed_ranges = before;
	} else if (ranges->kind == VALUE_NUMBER) {
		if (u->version >= 5)
			read_list(d, f, u, ranges->number, ret);
		else
			read_old_list(d, f, u, f->old_ranges_base + ranges->number, ret);
	}
}
