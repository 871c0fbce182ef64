/* frames.c - what stacks are walked by in a file, and how the file is loaded. src/unwind decodes
 * the former. */
#include <stdlib.h>

#include "object/object_private.h"
#include "unwind/unwind_table.h"

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

/* .symtab, else .dynsym; NULL: there is neither. */
static const struct elf_section *symbols_of(const struct elf_file *f)
{
	const struct elf_section *found = NULL;
	for (size_t i = 1; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		if (s->type == SHT_SYMTAB)
			return s;
		if (s->type == SHT_DYNSYM && !found)
			found = s;
	}
	return found;
}

static void find_symbols(struct elf_file *f, struct object_frames *ret)
{
	const struct elf_section *s = symbols_of(f);
	ret->is_stripped = !s || s->type != SHT_SYMTAB;
	if (!s || !s->link || s->link >= f->n_sections)
		return;
	ret->symbols.data = elf_file_contents(f, s, &ret->symbols.size);
	ret->strings.data = elf_file_contents(f, &f->sections[s->link], &ret->strings.size);
}

static struct object_frames frames_of(struct elf_file *f)
{
	struct object_frames ret = { 0 };
	if (!f->image.is_64bit || f->image.swap != bytes_other_order(false))
		return ret;
	ret.eh_frame = section_of(f, ".eh_frame");
	ret.eh_frame_hdr = section_of(f, ".eh_frame_hdr");
	ret.debug_frame = debug_frame_of(f);
	find_symbols(f, &ret);
	ret.entry = elf_image_is_program(&f->image) ? f->image.header.e_entry : 0;
	ret.loader_entry = ret.entry ? 0 : f->image.header.e_entry;
	ret.go = elf_file_go_table(f);
	ret.text_addr = addr_of(f, ".text");
	ret.data_addr = addr_of(f, ".got");
	return ret;
}

struct object_frames object_frames(struct object_file *o)
{
	struct object_frames ret = frames_of(o->main);
	bool is_known = object_is_64bit(o) && !object_big_endian(o);
	if (is_known && !ret.debug_frame.data && object_debug_file(o))
		ret.debug_frame = debug_frame_of(object_debug_file(o));
	return ret;
}

/* ---- the table of rules ---- */

/* Code at a link-time address. */
static size_t linked_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	struct elf_file *f = arg;
	const struct elf_image *im = &f->image;
	const Elf64_Phdr *p = elf_file_segments(f);
	for (size_t i = 0; p && i < im->n_segments; i++) {
		if (p[i].p_type != PT_LOAD || addr < p[i].p_vaddr ||
		    addr - p[i].p_vaddr >= p[i].p_filesz || p[i].p_offset > im->size)
			continue;
		uint64_t at = addr - p[i].p_vaddr;
		size_t n = min_u64(p[i].p_filesz - at, size);
		if (!elf_image_read(im, p[i].p_offset + at, ret, n))
			return n;
	}
	return 0;
}

/* For files without section headers: .eh_frame through PT_GNU_EH_FRAME, which the run-time also
 * uses. Returns bytes to be freed; NULL: there is none. */
static uint8_t *by_segment(struct elf_file *f, const struct machine *m, struct cfi_section *ret)
{
	const Elf64_Phdr *p = elf_file_segments(f), *hdr = NULL;
	for (size_t i = 0; p && i < f->image.n_segments; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME)
			hdr = &p[i];
	for (size_t i = 0; hdr && i < f->image.n_segments; i++) {
		if (p[i].p_type != PT_LOAD || hdr->p_vaddr < p[i].p_vaddr ||
		    hdr->p_vaddr - p[i].p_vaddr >= p[i].p_filesz)
			continue;
		uint8_t *data =
			p[i].p_filesz > f->section_max
				? NULL
				: elf_image_copy(&f->image, p[i].p_offset, p[i].p_filesz, NULL);
		if (data && cfi_from_segment(m, data, p[i].p_filesz, p[i].p_vaddr, hdr->p_vaddr,
					     hdr->p_memsz, ret))
			return data;
		free(data);
		break;
	}
	return NULL;
}

static struct unwind_table *table_of(struct elf_file *f, const struct object_frames *o,
				     const struct machine *m, bool not_followed)
{
	const struct object_section *const sections[] = { &o->eh_frame, &o->debug_frame };
	struct cfi_section s[ARRAY_LEN(sections)];
	struct code_file file = { .machine = m,
				  .symbols = o->strings.data ? o->symbols.data : NULL,
				  .symbols_size = o->symbols.size,
				  .strings = (const char *)o->strings.data,
				  .strings_size = o->strings.size,
				  .code = linked_code,
				  .arg = f,
				  .is_stripped = o->is_stripped,
				  .entry = o->entry,
				  .loader_entry = o->loader_entry,
				  .starts = { addr_of(f, ".init"), addr_of(f, ".fini") },
				  .go = o->go,
				  .not_followed = not_followed };
	VEC(struct code_span) code = { 0 };
	uint8_t *segment = NULL;
	size_t n = 0;
	elf_file_find_code(f);
	for (size_t i = 0; i < f->n_code; i++)
		vec_push(&code, ((struct code_span){ f->code[i].low, f->code[i].high }));
	file.sections = code.at;
	file.n_sections = code.n;
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		if (sections[i]->data)
			s[n++] = (struct cfi_section){ .machine = m,
						       .debug_frame = i == 1,
						       .data = sections[i]->data,
						       .size = sections[i]->size,
						       .addr = sections[i]->addr,
						       .text_base = o->text_addr,
						       .data_base = o->data_addr };
	if (!n && (segment = by_segment(f, m, &s[0])))
		n = 1;
	struct unwind_table *t = unwind_table_of(&file, s, n);
	vec_free(&code);
	free(segment);
	return t;
}

struct unwind_table *elf_file_unwind_table(struct elf_file *f, const struct machine *m,
					   bool not_followed)
{
	struct object_frames frames = frames_of(f);
	return table_of(f, &frames, m, not_followed);
}

struct unwind_table *object_unwind_table(struct object_file *o, const struct machine *m,
					 bool not_followed)
{
	struct object_frames frames = object_frames(o);
	return table_of(o->main, &frames, m, not_followed);
}

struct address_range object_code_section(const struct object_file *o, size_t i)
{
	if (i >= o->main->n_code)
		return (struct address_range){ 0 };
	return (struct address_range){ o->main->code[i].low, o->main->code[i].high };
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
