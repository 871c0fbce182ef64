/* frames.c - call-frame information and how the file is loaded. src/unwind decodes the former. */
#include "object/object_private.h"
#include "object/probe.h"

static struct object_section section_of(struct elf_file *f, const char *name)
{
	struct object_section ret = { 0 };
	const struct elf_section *s = elf_file_section(f, name);
	if (!s || !elf_file_decompress(f, s))
		return ret;
	ret.data = elf_file_contents(f, s, &ret.size);
	ret.addr = s->addr;
	return ret;
}

static struct object_section debug_frame_of(struct elf_file *f)
{
	struct object_section s = section_of(f, ".debug_frame");
	return s.data ? s : section_of(f, ".zdebug_frame");
}

static uint64_t addr_of(const struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_file_section(f, name);
	return s ? s->addr : 0;
}

struct object_frames object_frames(struct object_file *o)
{
	struct object_frames ret = { 0 };
	if (!object_is_64bit(o) || object_big_endian(o))
		return ret;
	ret.eh_frame = section_of(o->main, ".eh_frame");
	ret.eh_frame_hdr = section_of(o->main, ".eh_frame_hdr");
	ret.debug_frame = debug_frame_of(o->main);
	if (!ret.debug_frame.data && object_debug_file(o))
		ret.debug_frame = debug_frame_of(object_debug_file(o));
	ret.symbols = section_of(o->main, ".symtab");
	ret.strings = section_of(o->main, ".strtab");
	if (!ret.symbols.data) {
		ret.symbols = section_of(o->main, ".dynsym");
		ret.strings = section_of(o->main, ".dynstr");
	}
	ret.is_stripped = !section_of(o->main, ".symtab").data;
	ret.entry = object_is_program(o->main->elf) ? o->main->header.e_entry : 0;
	ret.loader_entry = ret.entry ? 0 : o->main->header.e_entry;
	ret.go = object_go_table(o);
	ret.text_addr = addr_of(o->main, ".text");
	ret.data_addr = addr_of(o->main, ".got");
	return ret;
}

struct address_range object_code_section(const struct object_file *o, size_t i)
{
	if (i >= o->n_code)
		return (struct address_range){ 0 };
	return (struct address_range){ o->code[i].low, o->code[i].high };
}

const uint8_t *object_loaded(const struct object_file *o, uint64_t addr, size_t wanted,
			     size_t *size)
{
	const uint8_t *at = object_code_part(o, addr, wanted, size);
	for (size_t i = 1; !at && i < o->main->n_sections; i++) {
		const struct elf_section *s = &o->main->sections[i];
		if (!(s->flags & SHF_ALLOC) || s->type != SHT_PROGBITS || addr < s->addr ||
		    addr - s->addr >= s->size)
			continue;
		const uint8_t *contents = elf_file_contents(o->main, s, size);
		if (!contents || addr - s->addr >= *size)
			break;
		*size -= (size_t)(addr - s->addr);
		at = contents + (addr - s->addr);
	}
	return at;
}

const struct object_segment *object_segments(struct object_file *o, size_t *n)
{
	size_t headers = 0;
	*n = 0;
	if (elf_getphdrnum(o->main->elf, &headers) < 0)
		return NULL;
	if (o->segments) {
		*n = o->n_segments;
		return o->segments;
	}
	o->segments = arena_alloc(&o->arena, (headers + 1) * sizeof(*o->segments));
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr h;
		/* libelf has read the headers, so there are that many bytes of them */
		if (!gelf_getphdr(o->main->elf, (int)i, &h) || h.p_type != PT_LOAD)
			continue;
		o->segments[o->n_segments++] =
			(struct object_segment){ h.p_vaddr, h.p_memsz, h.p_offset, h.p_filesz,
						 h.p_flags & PF_X };
	}
	*n = o->n_segments;
	return o->segments;
}
