/* cmd_order.c - writes an order of functions for the linker. */
#include <string.h>

#include "cli/command.h"
#include "cli/run.h"
#include "kin/kin.h"

static const char *const description[] = {
	"Lists the functions that ran in an order that puts functions that call each other close "
	"together and hot code on few pages, which saves misses of the instruction cache and the "
	"TLB. The output is a file for the linker. The program must be compiled with "
	"-ffunction-sections and only has to be linked again; functions that are not listed "
	"follow in their present order.",
	"The order is found by call-chain clustering (C3, Ottoni and Maher, CGO 2017) on calls, "
	"times and sizes; of a recording without calls, on the samples that had a call on their "
	"stack. --format=text prints a table of the clusters and the expected gain: mean call "
	"distance and share of calls that cross a page, if calls were counted, and number of pages "
	"with hot code.",
	"It is useful for programs of megabytes whose hot functions are spread over many more "
	"pages than they would fill; --format=text shows both numbers. A program whose hot code "
	"is on a few dozen pages either way, such as kin itself, gains nothing measurable: "
	"doc/commands.md has figures.",
	"Only functions of the program are listed, not those of libraries or the kernel, nor "
	"code without a symbol. If calls were counted (-pg), clones of functions (f.constprop.0, "
	"f.part.0) are listed under the function's own name, since the build to be ordered may "
	"not have them; a recording of that build itself keeps their names.",
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
		  "ld.lld gold mold list" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options,  &names_options,   &order_options, &select_options,
	&output_options, &general_options, NULL,
};

/* A list for the linker shows no times. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	if (!strcmp(s->format, "order"))
		run_without_times(s, o);
}

/* Prints the list for the linker, unless a format, columns or an order are requested. */
static int cmd_order(const struct settings *s)
{
	struct settings plain = *s;
	if (!plain.format)
		plain.format = s->columns.at.n || s->sort ? "text" : "order";
	return run_report(&plain, "order");
}

const struct command order_command = {
	.name = "order",
	.group = COMMANDS_MORE,
	.summary = "an order of functions in memory that puts callers beside callees",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.narrow = narrow,
	.run = cmd_order,
};
