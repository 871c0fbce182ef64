/* frames.c - call-frame information and how the file is loaded. src/unwind decodes the former. */
#include "object/object_private.h"

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
	ret.entry = elf_image_is_program(&o->main->image) ? o->main->image.header.e_entry : 0;
	ret.loader_entry = ret.entry ? 0 : o->main->image.header.e_entry;
	ret.go = elf_file_go_table(o->main);
	ret.text_addr = addr_of(o->main, ".text");
	ret.data_addr = addr_of(o->main, ".got");
	return ret;
}

struct address_range object_code_section(const struct object_file *o, size_t i)
{
	if (i >= o->main->n_code)
		return (struct address_range){ 0 };
	return (struct address_range){ o->main->code[i].low, o->main->code[i].high };
}

const uint8_t *object_loaded(const struct object_file *o, uint64_t addr, size_t wanted,
			     size_t *size)
{
	return elf_file_loaded(o->main, addr, wanted, size);
}

const struct object_segment *object_segments(struct object_file *o, size_t *n)
{
	const Elf64_Phdr *h = o->segments ? NULL : elf_file_segments(o->main);
	if (!o->segments)
		o->segments = arena_alloc(&o->arena,
					  (o->main->image.n_segments + 1) * sizeof(*o->segments));
	for (size_t i = 0; h && i < o->main->image.n_segments; i++)
		if (h[i].p_type == PT_LOAD)
			o->segments[o->n_segments++] =
				(struct object_segment){ h[i].p_vaddr, h[i].p_memsz, h[i].p_offset,
							 h[i].p_filesz, h[i].p_flags & PF_X };
	*n = o->n_segments;
	return o->segments;
}
