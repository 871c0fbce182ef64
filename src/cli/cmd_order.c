/* cmd_order.c - an order for the linker. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Lists functions so that those that call each other often come to lie close "
	"together, which makes better use of the instruction cache and of pages. "
	"Link with the list in the form that the linker takes.",
	NULL,
};

static const struct example examples[] = {
	{ "kin order --for=ld.lld -o order.txt",
	  "then link with -Wl,--symbol-ordering-file=order.txt" },
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
	.summary = "an order of functions in memory that puts callers beside callees",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
