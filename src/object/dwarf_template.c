/* dwarf_template.c - finds the unnamed types in the arguments of a template. */
#include "object/dwarf_template.h"

#include <dwarf.h>
#include <string.h>

#include "object/dwarf_abbrev.h"

enum {
	DEEPEST = 32,    /* levels: arguments of arguments, a pointer and its type ... */
	MOST_TYPES = 64, /* types in one name */
	ENTRY_WORK = 32, /* cost of looking at one entry, in bytes of work_left */
};

struct template_walk {
	struct dwarf_info *info;
	uint64_t *work_left;
	struct dwarf_types *types;
};

struct type_entry {
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t offset;
	uint32_t tag;
	bool children;
	struct dwarf_value name, type;
	struct bytes behind; /* its children, if it has some */
};

typedef VEC(struct dwarf_value) values;

static void read_fields(struct dwarf_info *d, const struct abbrevs *t, const struct abbrev *a,
			struct bytes *c, struct type_entry *e)
{
	e->tag = a->tag;
	e->children = a->children;
	for (uint32_t i = 0; i < a->n_attributes && !c->failed; i++) {
		const struct attribute *at = &t->attributes.at[a->attributes + i];
		struct dwarf_value v =
			dwarf_value_read(d, e->file, e->unit, c, at->form, at->implicit);
		if (at->name == DW_AT_name)
			e->name = v;
		else if (at->name == DW_AT_type)
			e->type = v;
	}
}

static bool spend(struct template_walk *w, uint64_t work)
{
	bool may = work <= *w->work_left;
	*w->work_left = may ? *w->work_left - work : 0;
	return may;
}

static bool entry_at(struct template_walk *w, const struct dwarf_file *f, uint64_t offset,
		     struct type_entry *ret)
{
	const struct dwarf_unit *u = dwarf_unit_at(f, offset);
	const struct abbrevs *t = u && spend(w, ENTRY_WORK) ? abbrevs_of(w->info, f, u) : NULL;
	if (!t)
		return false;
	dwarf_unit_read(f, u);
	struct bytes c = section_at((struct section){ f->info.data, u->end }, offset, f->swap);
	const struct abbrev *a = abbrevs_find(t, bytes_uleb(&c));
	if (!a || c.failed)
		return false;
	*ret = (struct type_entry){ .file = f, .unit = u, .offset = offset };
	read_fields(w->info, t, a, &c, ret);
	ret->behind = c;
	return !c.failed;
}

/* The types of an entry's children with that tag, including children in a parameter pack. */
static values types_of_children(struct template_walk *w, const struct type_entry *e, uint32_t tag)
{
	const struct abbrevs *t = abbrevs_of(w->info, e->file, e->unit);
	struct bytes c = e->behind;
	values ret = { 0 };
	uint32_t depth = 1;
	bool in_pack = false;

	while (t && depth && bytes_left(&c) && ret.n < MOST_TYPES) {
		const uint8_t *start = c.pos;
		uint64_t code = bytes_uleb(&c);
		if (!code) {
			depth--;
			continue;
		}
		const struct abbrev *a = abbrevs_find(t, code);
		if (!a || c.failed)
			break;
		if (depth == 1)
			in_pack = a->tag == DW_TAG_GNU_template_parameter_pack;
		bool skipped = false;
		if (a->tag == tag && (depth == 1 || (depth == 2 && in_pack))) {
			struct type_entry child = { .file = e->file, .unit = e->unit };
			read_fields(w->info, t, a, &c, &child);
			if (child.type.kind == VALUE_ENTRY)
				vec_push(&ret, child.type);
		} else {
			skipped = abbrevs_skip_entry(e->unit, t, a, &c);
		}
		depth += a->children && !skipped;
		if (!spend(w, (uint64_t)(c.pos - start)))
			break;
	}
	return ret;
}

static void add_types(struct template_walk *w, const struct dwarf_file *f, uint64_t offset,
		      unsigned depth);

static void add_all(struct template_walk *w, const struct type_entry *e, uint32_t tag,
		    unsigned depth)
{
	values types = types_of_children(w, e, tag);
	for (size_t i = 0; i < types.n; i++)
		add_types(w, types.at[i].alt ? &w->info->alt : &w->info->file, types.at[i].number,
			  depth + 1);
	vec_free(&types);
}

/* GCC leaves out the arguments of std::tuple, but not those of its base classes. */
static void add_class(struct template_walk *w, const struct type_entry *e, unsigned depth)
{
	size_t before = w->types->at.n;
	const char *name = dwarf_value_string(e->file, e->unit, &e->name);
	if (!name || !strncmp(name, "<lambda", 7)) {
		vec_push(&w->types->at, ((struct dwarf_type){ e->unit, e->offset }));
	} else if (strstr(name, "<lambda")) {
		add_all(w, e, DW_TAG_template_type_parameter, depth);
		if (w->types->at.n == before)
			add_all(w, e, DW_TAG_inheritance, depth);
	}
}

/* Appends the unnamed types in a type: the class itself or those among its arguments, and for a
 * function type those in its return type and parameters. Pointers are followed. */
static void add_types(struct template_walk *w, const struct dwarf_file *f, uint64_t offset,
		      unsigned depth)
{
	struct type_entry e;

	for (; depth < DEEPEST && w->types->at.n < MOST_TYPES; depth++) {
		if (!entry_at(w, f, offset, &e))
			return;
		if (e.tag == DW_TAG_class_type || e.tag == DW_TAG_structure_type ||
		    e.tag == DW_TAG_union_type) {
			add_class(w, &e, depth);
			return;
		}
		if (e.tag == DW_TAG_subroutine_type)
			break;
		if (e.type.kind != VALUE_ENTRY) /* void, or a type with a plain name */
			return;
		f = e.type.alt ? &w->info->alt : &w->info->file;
		offset = e.type.number;
	}
	if (depth >= DEEPEST || w->types->at.n >= MOST_TYPES)
		return;
	if (e.type.kind == VALUE_ENTRY)
		add_types(w, e.type.alt ? &w->info->alt : &w->info->file, e.type.number, depth + 1);
	if (e.children)
		add_all(w, &e, DW_TAG_formal_parameter, depth);
}

void dwarf_template_types(struct dwarf_info *d, const struct dwarf_unit *u, uint64_t offset,
			  uint64_t *work_left, struct dwarf_types *ret)
{
	struct template_walk w = { .info = d, .work_left = work_left, .types = ret };
	const struct dwarf_file *alt = &d->alt;
	bool in_alt = alt->units.n && u >= alt->units.at && u < alt->units.at + alt->units.n;
	struct type_entry e;

	if (entry_at(&w, in_alt ? alt : &d->file, offset, &e) && e.children)
		add_all(&w, &e, DW_TAG_template_type_parameter, 0);
}
