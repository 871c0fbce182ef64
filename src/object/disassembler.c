/* disassembler.c - loads capstone, and gives it memory that cannot run out unnoticed. */
#include "object/disassembler.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)
#define LIBRARY  "libcapstone.so." VALUE(CS_API_MAJOR)

static void *allocate(size_t size) { return xrealloc(NULL, size, 1); }
static void *resize(void *p, size_t size) { return xrealloc(p, size, 1); }

static void *allocate_zeroed(size_t n, size_t size)
{
	return memset(xrealloc(NULL, n, size), 0, n * size);
}

void disassembler_syntax(struct disassembler *d, bool intel)
{
	if (d->is_x86)
		d->option(d->handle, CS_OPT_SYNTAX,
			  intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
}

/* Capstone's name of a machine. */
struct known_machine {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
};

static const struct known_machine *find(uint16_t machine)
{
	static const struct known_machine known[] = {
		{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
		{ EM_386, CS_ARCH_X86, CS_MODE_32 },
		{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM },
#if CS_API_MAJOR >= 5
		{ EM_RISCV, CS_ARCH_RISCV, (cs_mode)(CS_MODE_RISCV64 | CS_MODE_RISCVC) },
#endif
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].machine == machine)
			return &known[i];
	return NULL;
}

/* capstone does not check for memory. The setting is global in the process; other users of capstone
 * are not harmed: either allocator can free what the other has allocated. */
static bool start(struct disassembler *d, const struct known_machine *k)
{
	cs_opt_mem memory = { allocate, allocate_zeroed, resize, free, vsnprintf };
	__typeof__(&cs_option) option = LIBRARY_FUNCTION(d->library, cs_option);
	__typeof__(&cs_open) open = LIBRARY_FUNCTION(d->library, cs_open);
	__typeof__(&cs_malloc) new_insn = LIBRARY_FUNCTION(d->library, cs_malloc);

	d->next = LIBRARY_FUNCTION(d->library, cs_disasm_iter);
	d->free_insn = LIBRARY_FUNCTION(d->library, cs_free);
	d->close = LIBRARY_FUNCTION(d->library, cs_close);
	if (!option || !open || !new_insn || !d->next || !d->free_insn || !d->close ||
	    option(0, CS_OPT_MEM, (size_t)&memory) != CS_ERR_OK ||
	    open(k->arch, k->mode, &d->handle) != CS_ERR_OK)
		return false;
	d->option = option;
	d->is_x86 = k->arch == CS_ARCH_X86;
	disassembler_syntax(d, false);
	d->insn = new_insn(d->handle);
	return d->insn != NULL;
}

struct disassembler *disassembler_new(uint16_t machine, const char **problem)
{
	const struct known_machine *k = find(machine);
	if (!k)
		return NULL;
	struct disassembler *d = xalloc(sizeof(*d));

	d->library = library_open(LIBRARY);
	if (d->library && start(d, k))
		return d;
	*problem = d->library ? LIBRARY " does not disassemble this machine's code"
			      : LIBRARY " cannot be loaded";
	disassembler_free(d);
	return NULL;
}

void disassembler_free(struct disassembler *d)
{
	if (!d)
		return;
	if (d->insn)
		d->free_insn(d->insn, 1);
	if (d->handle)
		d->close(&d->handle);
	if (d->library)
		library_close(d->library);
	free(d);
}
