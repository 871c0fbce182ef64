/* The units of .debug_info: their top entries by abbreviations behind others of all kinds, by the
 * same ones under other codes, and by damaged ones. */
#include "tap.h"

#include <dwarf.h>
#include <string.h>

#include "../lib/elf_build.h"
#include "object/dwarf_info.h"
#include "object/object_private.h"

enum { LANGUAGE = 0x1d }; /* DW_LANG_C11 */

/* DW_TAG_compile_unit without children: name, language, low_pc */
#define BODY                                                                                       \
	0x11, 0, DW_AT_name, DW_FORM_string, DW_AT_language, DW_FORM_data1, DW_AT_low_pc,          \
		DW_FORM_addr, 0, 0

enum { STRANGE = 0, OTHER_CODE = 64, UNKNOWN = 96, VALUE = 128, CUT = 160 };

static const uint8_t tables[] = {
	/* the names and forms of the first are long, or have values that look like an end */
	[STRANGE] = 1,
	0x34,
	0,
	DW_AT_name,
	DW_FORM_string,
	0x87,
	1,
	DW_FORM_flag_present,
	DW_AT_const_value,
	DW_FORM_implicit_const,
	0,
	DW_AT_decl_line,
	DW_FORM_implicit_const,
	0x80,
	0,
	DW_AT_type,
	0xa1,
	0x3e,
	DW_AT_const_value,
	DW_FORM_indirect,
	0,
	DW_FORM_data1,
	0,
	0,
	2,
	BODY,
	0,
	[OTHER_CODE] = 0x81,
	1,
	BODY,
	0,
	[UNKNOWN] = 1,
	0x34,
	0,
	DW_AT_name,
	0x7e,
	0,
	0,
	2,
	BODY,
	0,
	[VALUE] = 3,
	0x11,
	0,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_language,
	DW_FORM_implicit_const,
	LANGUAGE,
	DW_AT_low_pc,
	DW_FORM_addr,
	0,
	0,
	0,
	[CUT] = 2,
	0x11,
	0,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_language,
};

struct made {
	uint64_t abbrev;
	const uint8_t *code;
	size_t code_size;
	int address_size;
	bool has_language; /* in the entry */
	const char *name;  /* NULL: that is not found */
};

static const uint8_t two[] = { 2 }, three[] = { 3 }, long_code[] = { 0x81, 1 };

static const struct made units[] = {
	{ STRANGE, two, 1, 8, true, "behind others" },
	{ OTHER_CODE, long_code, 2, 8, true, "under another code" },
	{ STRANGE, two, 1, 4, true, "of another size" },
	{ UNKNOWN, two, 1, 8, true, NULL },
	{ STRANGE, two, 1, 8, true, "behind what is unknown" },
	{ VALUE, three, 1, 8, false, "with a value" },
	{ CUT, two, 1, 8, true, NULL },
	{ STRANGE, three, 1, 8, true, NULL },
	{ OTHER_CODE, long_code, 2, 8, true, "behind what is cut" },
	{ sizeof(tables), two, 1, 8, true, NULL },
	{ OTHER_CODE, long_code, 2, 8, true, "the last" },
};

static uint64_t low_of(size_t i) { return 0x1000 * (i + 1); }

static void put_unit(const struct elf_build *b, struct elf_bytes *to, size_t i)
{
	const struct made *u = &units[i];
	const char *name = u->name ? u->name : "nobody's";
	struct elf_bytes rest = { 0 };
	elf_number(b, &rest, 4, 2); /* version */
	elf_number(b, &rest, u->abbrev, 4);
	elf_number(b, &rest, (uint64_t)u->address_size, 1);
	elf_put(&rest, u->code, u->code_size);
	elf_put(&rest, name, strlen(name) + 1);
	if (u->has_language)
		elf_number(b, &rest, LANGUAGE, 1);
	elf_number(b, &rest, low_of(i), u->address_size);
	elf_number(b, to, rest.n, 4);
	elf_put(to, rest.at, rest.n);
	free(rest.at);
}

static void check_unit(const struct dwarf_unit *u, size_t i)
{
	const struct made *made = &units[i];
	OK_STR(u->name ? u->name : "none", made->name ? made->name : "none");
	OK(u->low == (made->name ? low_of(i) : 0));
	OK(u->language == (made->name ? LANGUAGE : 0));
	OK(u->tag == (made->name ? DW_TAG_compile_unit : 0));
}

static void test_units(bool big)
{
	struct elf_build b = elf_new(64, big, big ? EM_PPC64 : EM_X86_64);
	struct elf_bytes info = { 0 };
	size_t size;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		put_unit(&b, &info, i);
	elf_section(&b, ".debug_info", SHT_PROGBITS, 0, 0, info.at, info.n);
	elf_section(&b, ".debug_abbrev", SHT_PROGBITS, 0, 0, tables, sizeof(tables));
	uint8_t *memory = elf_finish(&b, &size);
	free(info.at);
	struct elf_file *file = elf_file_from_memory("made", memory, size);
	struct dwarf_info *d = file ? dwarf_info_new(file, NULL) : NULL;
	if (OK(d && d->file.units.n == ARRAY_LEN(units)))
		for (size_t i = 0; i < ARRAY_LEN(units); i++)
			check_unit(&d->file.units.at[i], i);
	dwarf_info_free(d);
	elf_file_free(file);
}

int main(void)
{
	test_units(false);
	test_units(true);
	return DONE();
}
