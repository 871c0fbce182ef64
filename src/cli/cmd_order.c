/* cmd_order.c - an order for the linker. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Lists the functions that ran so that those that call each other lie close together and "
	"hot code shares pages: less waiting for the instruction cache and the TLB. What is "
	"printed is what the linker reads. The program must be compiled with -ffunction-sections, "
	"and can be linked again without compiling; functions that are not listed follow as they "
	"are.",
	"The order is found by call-chain clustering (C3, Ottoni and Maher, CGO 2017) on calls, "
	"times and sizes. With --format=text there is a table with the clusters, and the expected "
	"gain: mean call distance, share of calls that cross a page, number of pages with hot "
	"code.",
	"It pays for programs of megabytes, whose hot functions lie on many more pages than they "
	"would fill, so that the CPU waits for instructions; --format=text has both numbers. "
	"One whose hot code is on a few dozen pages either way gains nothing that can be measured: "
	"kin itself is an example.",
	"Only functions of the program are listed, not those of libraries and of the kernel, nor "
	"code without a symbol. Where calls were counted (-pg), that build's clones of functions "
	"(f.constprop.0, f.part.0) stand under the function's own name, as the build that is "
	"ordered may not have them; a recording of that build itself has the names as they are.",
	NULL,
};

static const struct example examples[] = {
	{ "kin order --for=ld.lld -o order.txt",
	  "then link with -fuse-ld=lld -Wl,--symbol-ordering-file=order.txt" },
	{ "kin order --for=gold -o order.txt",
	  "then link with -fuse-ld=gold -Wl,--section-ordering-file=order.txt" },
	{ "kin order --for=mold -o order.txt", "then link with -fuse-ld=mold -Wl,@order.txt" },
	{ "kin order --format=text", "what belongs together, and what is gained" },
	{ 0 },
};

static const struct opt_group order_options = {
	"Order",
	(const struct opt[]){
		{ OPT_FOR, 0, "for", "TOOL",
		  "what the list is for: ld.lld, gold or mold, or list (the default): one name per "
		  "line",
		  "ld.lld gold mold list", COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options,  &names_options,   &order_options, &select_options,
	&output_options, &general_options, NULL,
};

/* Unless a format is asked for: what a linker reads. */
static int run(const struct settings *s)
{
	struct settings plain = *s;
	if (!plain.format)
		plain.format = "order";
	return run_report(&plain, "order");
}

const struct command order_command = {
	.name = "order",
	.group = COMMANDS_LOOK,
	.summary = "an order of functions in memory that puts callers beside callees",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
