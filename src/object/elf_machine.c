/* elf_machine.c - which machine a file is for, with BFD's names of machines, which "-c" shows. */
#include "object/object_private.h"

static const struct {
	uint16_t machine;
	const char *name32, *name64;
} machines[] = {
	{ EM_386, "i386", "i386" },
	{ EM_IAMCU, "iamcu", "iamcu" },
	{ EM_X86_64, "i386:x64-32", "i386:x86-64" },
	{ EM_AARCH64, "aarch64:ilp32", "aarch64" },
	{ EM_ARM, "arm", "arm" },
	{ EM_PPC, "powerpc:common", "powerpc:common" },
	{ EM_PPC64, "powerpc:common64", "powerpc:common64" },
	{ EM_S390, "s390:31-bit", "s390:64-bit" },
	{ EM_RISCV, "riscv:rv32", "riscv:rv64" },
	{ EM_LOONGARCH, "Loongarch32", "Loongarch64" },
	{ EM_MIPS, "mips", "mips" },
	{ EM_SPARC, "sparc", "sparc" },
	{ EM_SPARC32PLUS, "sparc:v8plus", "sparc:v8plus" },
	{ EM_SPARCV9, "sparc:v9", "sparc:v9" },
	{ EM_ALPHA, "alpha", "alpha" },
	{ 0x9026 /* the number in real use */, "alpha", "alpha" },
	{ EM_IA_64, "ia64-elf32", "ia64-elf64" },
	{ EM_68K, "m68k", "m68k" },
	{ EM_SH, "sh", "sh" },
	{ EM_PARISC, "hppa1.1", "hppa2.0w" },
	{ EM_VAX, "vax", "vax" },
	{ EM_OPENRISC, "or1k", "or1k" },
	{ EM_MICROBLAZE, "MicroBlaze", "MicroBlaze" },
	{ EM_XTENSA, "xtensa", "xtensa" },
	{ EM_CSKY, "csky", "csky" },
	{ EM_ARC_COMPACT, "ARC600", "ARC600" },
	{ EM_AVR, "avr", "avr" },
	{ EM_MSP430, "MSP430", "MSP430" },
};

const struct machine *object_kind(const struct object_file *o) { return elf_file_machine(o->main); }

bool object_is_of_known_machine(const struct object_file *o) { return object_kind(o) != NULL; }

bool object_knows_machine(uint32_t elf) { return machine_find(elf) != NULL; }

const char *machine_name(const struct elf_image *im)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (machines[i].machine == im->header.e_machine)
			return im->is_64bit ? machines[i].name64 : machines[i].name32;
	return "unknown";
}
