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
	"times and sizes. With --format=text there is a table with the clusters, and what the "
	"order gains: how far calls lead, how many leave their page, and how many pages the hot "
	"code is spread over.",
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
