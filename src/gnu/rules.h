/* rules.h - the rules of GNU gprof 2.40 where they differ from ours (doc/differences.md), for each
 * stage from an address to a row: for --compat=gnu. */
#ifndef GNU_RULES_H
#define GNU_RULES_H

/* Which symbols count (gnu_symbols.c). symtab_opts.rules_arg: the map of -R, or NULL. */
extern const struct symbol_rules gnu_symbol_rules;
/* The line of an address as answered by BFD 2.40, which depends on earlier requests (gnu_lines.c).
 */
extern const struct line_rules gnu_line_rules;
/* Making places from symbols and lines (places.c). */
extern const struct place_rules gnu_place_rules;
/* Finding calls in the code, for -c (calls.c). */
extern const struct call_rules gnu_call_rules;
/* Time, calls and cycles (credit.c). */
extern const struct callgraph_rules gnu_callgraph_rules;
/* Executions of basic blocks, by place and by line (gnu_counts.c). */
extern const struct block_rules gnu_block_rules;
extern const struct coverage_rules gnu_coverage_rules;
/* Rows of reports (rows.c). */
extern const struct report_rules gnu_report_rules;
/* Which files are data (gnu_data.c). */
extern const struct input_rules gnu_input_rules;
/* The same for files whose format kin knows, and GNU's gprof reads. */
extern const struct input_rules gnu_output_input_rules;

#endif
