/* Executions of pieces of code and of source lines, on small functions in assembly whose blocks
 * were counted. */
#include "analysis/flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/coverage.h"
#include "analysis/flow_inlined.h"
#include "analysis/flow_lines.h"
#include "base/capped.h"
#include "base/err.h"
#include "lib/random_graph.h"
#include "symbolize/program.h"
#include "tap.h"

/* ---- functions, executions of their blocks, and the expected counts ---- */

/* "row LINE" starts a row of the line table. "b LINE" begins a counted block with a statement of
 * the line, as gcc does, "g LINE" as clang does; "hook LINE" and "guard" are nothing but their
 * hooks. "on LINE" is a statement in the middle of a block. */
static const char macros[] = "	.macro row line\n"
			     "	.loc file \\line\n"
			     "	.endm\n"
			     "	.macro work\n"
			     "	mov %ecx, %edx\n"
			     "	.endm\n"
			     "	.macro hook line\n"
			     "	row \\line\n"
			     "	call __sanitizer_cov_trace_pc\n"
			     "	.endm\n"
			     "	.macro b line\n"
			     "	hook \\line\n"
			     "	work\n"
			     "	.endm\n"
			     "	.macro bare\n"
			     "	call __sanitizer_cov_trace_pc\n"
			     "	work\n"
			     "	.endm\n"
			     "	.macro g line\n"
			     "	row \\line\n"
			     "	guard\n"
			     "	.endm\n"
			     "	.macro alone\n"
			     "	lea guard(%rip), %rdi\n"
			     "	call __sanitizer_cov_trace_pc_guard\n"
			     "	.endm\n"
			     "	.macro guard\n"
			     "	alone\n"
			     "	work\n"
			     "	.endm\n"
			     "	.macro function name\n"
			     "	.type \\name, %function\n"
			     "\\name:\n"
			     "	.endm\n"
			     "	.macro on line\n"
			     "	row \\line\n"
			     "	work\n"
			     "	.endm\n"
			     "	.file 1 \"other.h\"\n"
			     "	.text\n";

static const char library[] = "	.macro library names:vararg\n"
			      "	.irp name, \\names\n"
			      "	.globl \\name\n"
			      "	.type \\name, %function\n"
			      "\\name:	ret\n"
			      "	.endr\n"
			      "	.endm\n"
			      "	library __sanitizer_cov_trace_pc, __sanitizer_cov_trace_pc_guard\n"
			      "	library exit, strlen, setjmp, helper, strle\n"
			      "	.globl die\n"
			      "	.type die, %function\n"
			      "die:	nop\n"
			      "	jmp die\n"
			      "	.bss\n"
			      "guard:	.zero 8\n"
			      "	.section .note.GNU-stack,\"\",%progbits\n";

/* Counts: of the blocks, in the order of the code; "-" is a block without a record. Pieces: counts,
 * by address, "?" if it is not known. Lines: "LINE:COUNT"; "LINE*COUNT" if a block starts with it;
 * "?" and "?+": not known, but that it was executed. */
struct example {
	const char *name, *code, *counts, *pieces, *lines;
};

static const struct example examples[] = {
	/* The first, as it leads to the first piece of all. */
	{ "a_switch_within_an_if_leads_past_its_breaks",
	  "1: b 1\n je 3f\n b 2\n jl 1b\n jg 4f\n row 3\n jmp 3f\n4: b 5\n3: b 6\n ret",
	  "20 11 3 9", "20 11 ? ? 3 9", "1*20 2*11 3:? 5*3 6*9" },
	{ "lines_of_a_block_are_executed_as_often", "b 1\n on 2\n on 3\n ret", "5", "5",
	  "1*5 2:5 3:5" },
	{ "a_block_without_a_record_was_never_executed", "b 1\n je 1f\n b 2\n1: b 3\n ret", "5 - 5",
	  "5 0 5", "1*5 2*0 3*5" },
	{ "what_is_not_counted_follows", "b 1\n je 1f\n b 2\n jmp 2f\n1: on 3\n2: on 4\n ret",
	  "10 4", "10 4 6 10", "1*10 2*4 3:6 4:10" },
	{ "what_is_before_counted_blocks_follows",
	  "on 1\n je 1f\n b 2\n jmp 2f\n1: b 3\n2: on 4\n ret", "3 4", "7 3 4 7",
	  "1:7 2*3 3*4 4:7" },
	{ "ways_that_meet_again", "b 1\n je 1f\n on 2\n1: on 3\n ret", "9", "9 ? 9",
	  "1*9 2:? 3:9" },
	{ "of_no_executions_all_is_known", "b 1\n je 1f\n jl 2f\n on 3\n1: on 4\n2: on 5\n ret",
	  "-", "0 0 0 0 0", "1*0 3:0 4:0 5:0" },
	{ "sums_stay_at_the_largest_number", "on 1\n je 1f\n b 2\n jmp 2f\n1: b 3\n2: on 4\n ret",
	  "18446744073709551615 7",
	  "18446744073709551615 18446744073709551615 7 18446744073709551615",
	  "1:18446744073709551615 2*18446744073709551615 3*7 4:18446744073709551615" },

	{ "a_loop_on_a_line", "b 1\n jmp 2f\n1: b 2\n2: b 2\n jl 1b\n b 3\n ret", "1 10 11 1",
	  "1 10 11 1", "1*1 2*11 3*1" },
	{ "a_loop_within_a_loop_on_a_line", "b 1\n1: b 2\n2: b 2\n jl 2b\n b 2\n jl 1b\n b 3\n ret",
	  "1 10 70 10 1", "1 10 70 10 1", "1*1 2*70 3*1" },
	{ "loops_that_share_a_way",
	  "b 1\n1: b 2\n je 2f\n b 2\n jmp 3f\n2: b 2\n3: b 2\n jl 1b\n on 3\n ret", "2 10 4 6 10",
	  "2 10 4 6 10 2", "1*2 2*10 3:2" },
	{ "a_loop_beside_a_way_through", "b 1\n b 2\n je 3f\n1: b 2\n jl 1b\n3: b 2\n on 3\n ret",
	  "5 5 30 5", "5 5 30 5", "1*5 2*?+ 3:5" },
	{ "a_line_in_two_places", "b 1\n je 1f\n b 2\n jmp 2f\n1: b 3\n2: b 2\n ret", "9 4 5 9",
	  "9 4 5 9", "1*9 2*9 3*5" },
	{ "a_line_that_is_come_back_to", "b 1\n1: b 2\n b 3\n b 2\n jl 1b\n ret", "1 6 6 6",
	  "1 6 6 6 1", "1*1 2*7 3*6" },
	{ "a_line_that_ends_no_block",
	  "b 1\n je 1f\n b 2\n on 3\n jmp 2f\n1: b 2\n on 4\n2: b 5\n ret", "9 4 5 9", "9 4 5 9",
	  "1*9 2*9 3:4 4:5 5*9" },
	{ "the_highest_line_of_a_block_counts", "b 1\n je 1f\n b 4\n on 3\n1: b 3\n ret", "9 4 9",
	  "9 4 9", "1*9 3*9 4*4" },
	{ "a_block_in_two_files",
	  "b 1\n .loc 1 31\n nop\n on 2\n jmp 1f\n1: .loc 1 31\n call __sanitizer_cov_trace_pc\n "
	  "nop\n ret",
	  "8 8", "8 8", "1*8 2:8 31*8" },
	{ "a_block_goes_on_where_nothing_else_leads", "b 1\n je 1f\n nop\n1: on 2\n ret", "8",
	  "8 ? 8", "1*8 2:8" },
	{ "a_line_in_two_functions", "b 1\n on 2\n ret\n function also\n b 1\n on 2\n ret", "8 3",
	  "8 3", "1*11 2:11" },
	{ "a_line_in_a_function_that_is_not_counted",
	  "b 1\n on 2\n ret\n function too\n on 2\n ret", "8", "8", "1*8 2:?+" },
	{ "the_head_of_a_function", "on 1\n on 2\n1: b 2\n jl 1b\n on 3\n ret", "8", "? 8 ?",
	  "1:? 2*?+ 3:?" },
	{ "the_head_of_a_function_without_a_loop",
	  "row 1\n push %rbp\n b 2\n pop %rbp\n on 3\n ret", "8", "8 8", "1:8 2*8 3:8" },

	{ "what_never_returns_ends_there", "b 1\n je 1f\n call exit\n1: b 2\n ret", "5 3", "5 2 3",
	  "1*5 2*3" },
	{ "a_function_without_a_way_out_does_not_return",
	  "b 1\n je 1f\n call die\n on 2\n1: on 3\n ret", "5", "5 0 0 5", "1*5 2:0 3:5" },
	{ "calls_return_if_nothing_tells", "b 1\n call helper\n on 2\n call helper\n on 3\n ret",
	  "7", "7 7 7", "1*7 2:7 3:7" },
	{ "a_call_that_did_not_return_always", "b 1\n call helper\n on 2\n jmp 1f\n1: b 3\n ret",
	  "7 5", "7 5 5", "1*7 2:5 3*5" },
	{ "which_of_two_calls_did_not_return_is_not_known",
	  "b 1\n call helper\n on 2\n call helper\n b 3\n ret", "7 5", "7 ? 5", "1*7 2:? 3*5" },
	{ "two_calls_that_returned", "b 1\n call helper\n on 2\n call helper\n b 3\n ret", "7 7",
	  "7 7 7", "1*7 2:7 3*7" },
	{ "a_call_of_what_is_known_to_return", "b 1\n call strlen\n on 2\n ret", "7", "7",
	  "1*7 2:7" },
	{ "names_are_compared_whole", "b 1\n call strle\n on 2\n ret", "7", "7 7", "1*7 2:7" },
	{ "a_call_that_returns_twice", "b 1\n call setjmp\n on 2\n ret", "7", "7 ?", "1*7 2:?" },
	{ "the_result_of_a_call_is_stored_by_it",
	  "b 1\n call helper\n mov %rax, 8(%rsp)\n1: on 2\n jl 1b\n ret", "7", "7 ? ?", "1*7 2:?" },
	{ "a_statement_that_stores_is_another",
	  "b 1\n call helper\n row 2\n mov %rax, 8(%rsp)\n1: on 3\n jl 1b\n ret", "7", "7 7 ? ?",
	  "1*7 2:7 3:?" },
	{ "a_call_through_a_variable", "b 1\n call *guard(%rip)\n on 2\n ret", "7", "7 7",
	  "1*7 2:7" },

	{ "padding_is_no_code", "b 1\n jmp 1f\n nop\n nop\n1: on 2\n ret\n nop", "3", "3 0 3 0",
	  "1*3 2:3" },
	{ "a_landing_pad_has_its_own_count", "b 1\n on 2\n ret\n b 3\n ret", "3 2", "3 2",
	  "1*3 2:3 3*2" },
	{ "a_trap_ends_a_piece", "b 1\n je 1f\n ud2\n1: b 2\n ret", "5 4", "5 1 4", "1*5 2*4" },
	{ "a_jump_to_another_function_leaves", "b 1\n je helper\n on 2\n jmp helper", "5", "5 ?",
	  "1*5 2:?" },

	{ "a_table_of_addresses",
	  "b 1\n jmp *table_1(,%rax,8)\n1: b 2\n jmp 4f\n2: on 3\n jmp 4f\n4: b 5\n ret\n"
	  " .section .rodata\ntable_1: .quad 1b, 2b, 1b\n .text",
	  "9 4 9", "9 4 5 9", "1*9 2*4 3:5 5*9" },
	{ "a_table_of_distances",
	  "b 1\n lea table_2(%rip), %rdx\n movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp "
	  "*%rax\n"
	  "1: b 2\n jmp 4f\n2: on 3\n jmp 4f\n4: b 5\n ret\n"
	  " .section .rodata\ntable_2: .long 1b - table_2, 2b - table_2\n .text",
	  "9 4 9", "9 4 5 9", "1*9 2*4 3:5 5*9" },
	{ "a_table_ends_where_the_next_begins",
	  "b 1\n jmp *table_3(,%rax,8)\n1: b 2\n jmp *table_4(,%rax,8)\n2: on 3\n jmp 4f\n3: on "
	  "4\n4: b 5\n ret\n"
	  " .section .rodata\ntable_3: .quad 1b, 2b\ntable_4: .quad 3b, 4b\n .text",
	  "9 4 9", "9 4 5 ? 9", "1*9 2*4 3:5 4:? 5*9" },
	{ "labels_as_values",
	  "b 1\n lea 1f(%rip), %rax\n lea 2f(%rip), %rdx\n jmp *%rax\n1: b 2\n jmp *%rdx\n2: on "
	  "3\n ret",
	  "9 4", "9 4 ?", "1*9 2*?+ 3:?" },
	{ "a_jump_to_anywhere", "b 1\n je 1f\n jmp *%rax\n1: b 2\n ret", "9 4", "9 ? 4",
	  "1*?+ 2*4" },
	{ "the_jump_that_computed_gotos_share",
	  "b 1\n hook 2\n jmp *table_5(,%rax,8)\n1: b 3\n ret\n2: b 4\n ret\n"
	  " .section .rodata\ntable_5: .quad 1b, 2b\n .text",
	  "9 9 4 5", "9 9 4 5", "1*9 2:0 3*4 4*5" },

	{ "guards_begin_blocks", "g 1\n je 1f\n g 2\n1: g 3\n ret", "9 4 9", "9 4 9",
	  "1*9 2*4 3*9" },
	{ "a_guard_without_a_row_is_of_the_line_before", "g 1\n je 1f\n guard\n on 2\n1: g 3\n ret",
	  "9 4 9", "9 4 9", "1*9 2:4 3*9" },
	{ "a_guard_of_no_line", "g 1\n je 1f\n row 0\n guard\n on 2\n1: g 3\n ret", "9 4 9",
	  "9 4 9", "1*9 2:4 3*9" },

	{ "a_guard_that_is_jumped_to",
	  "g 1\n lea guard(%rip), %rdi\n je 1f\n jmp 3f\n1: row 2\n call "
	  "__sanitizer_cov_trace_pc_guard\n nop\n3: g 3\n ret",
	  "9 4 9", "9 5 4 9", "1*9 2*4 3*9" },

	{ "a_break_that_may_be_passed", "b 1\n je 3f\n b 2\n row 3\n jmp 3f\n b 4\n3: b 5\n ret",
	  "9 7 - 9", "9 7 0 9", "1*9 2*7 3:?+ 4*0 5*9" },
	{ "a_break_that_is_not_passed", "b 1\n je 4f\n b 2\n row 3\n jmp 3f\n4: b 4\n3: b 5\n ret",
	  "9 7 2 9", "9 7 2 9", "1*9 2*7 3:7 4*2 5*9" },
	{ "a_comparison_of_two_ways_leads_past_a_break",
	  "b 1\n je 3f\n b 2\n jl 2f\n jne 2f\n row 3\n jmp 3f\n2: b 4\n3: b 5\n ret", "9 7 2 9",
	  "9 7 ? 5 2 9", "1*9 2*7 3:?+ 4*2 5*9" },
	{ "a_break_in_a_case",
	  "b 1\n je 3f\n b 2\n jl 2f\n jg 4f\n jne 2f\n row 3\n jmp 3f\n2: b 4\n jmp 3f\n4: b "
	  "5\n3: b 6\n ret",
	  "9 7 2 1 9", "9 7 ? ? 4 2 1 9", "1*9 2*7 3:4 4*2 5*1 6*9" },
	{ "a_jump_back_to_a_loop",
	  "b 1\n1: b 2\n je 3f\n b 3\n jl 2f\n b 4\n2: row 2\n jmp 1b\n3: b 5\n ret", "1 10 9 4 1",
	  "1 10 9 4 9 1", "1*1 2*10 3*9 4*4 5*1" },
	{ "a_counted_jump", "b 1\n je 1f\n b 2\n jl 2f\n hook 3\n jmp 1f\n2: b 4\n1: b 5\n ret",
	  "9 7 3 4 9", "9 7 3 4 9", "1*9 2*7 3*3 4*4 5*9" },

	{ "counts_that_contradict_each_other", "b 1\n je 1f\n b 2\n1: on 3\n ret", "3 5", "3 5 3",
	  "1*3 2*5 3:3" },
	{ "a_loop_whose_condition_is_not_counted", "b 1\n1: b 2\n on 3\n jl 1b\n on 4\n ret", "2 8",
	  "2 8 2", "1*2 2*8 3:8 4:2" },

	{ "a_hook_alone_that_is_come_to_from_another_line_belongs_to_none",
	  "b 1\n jmp 1f\n b 3\n1: bare\n jmp 2f\n b 4\n2: b 1\n ret", "9 - 9 - 9", "9 0 9 0 9",
	  "1*18 3*0 4*0" },
	{ "code_that_is_come_to_from_elsewhere_is_a_block_of_its_own",
	  "b 1\n je 1f\n b 2\n on 3\n1: nop\n ret", "9 4", "9 4 9", "1*9 2*4 3:9" },

	{ "ways_that_meet_again_at_a_counted_block", "on 1\n je 1f\n on 2\n1: b 3\n ret", "9",
	  "9 ? 9", "1:9 2:? 3*9" },
	{ "a_function_that_begins_with_a_jump_says_nothing_of_the_one_before",
	  "b 1\n je 1f\n b 2\n jmp 2f\n1: on 3\n2: on 4\n ret\n function begins_with_a_jump\n"
	  " row 5\n jmp *%rax\n b 6\n ret",
	  "10 4 3", "10 4 6 10 ? 3", "1*10 2*4 3:6 4:10 5:? 6*3" },
	{ "a_line_that_ends_no_block_is_come_back_to", "b 1\n b 2\n on 3\n b 2\n on 4\n ret",
	  "5 5 5", "5 5 5", "1*5 2*10 3:5 4:5" },
	{ "a_guard_is_given_its_address_just_before",
	  "g 1\n je 1f\n g 2\n1: row 3\n lea guard(%rip), %rax\n nop\n nop\n row 4\n"
	  " call __sanitizer_cov_trace_pc_guard\n nop\n ret",
	  "9 4 9", "9 4 9 9", "1*9 2*4 3:9 4*9" },
	{ "arguments_of_a_call_are_dropped_and_its_result_is_stored_by_it",
	  "b 1\n call helper\n add $16, %rsp\n mov %rax, 8(%rsp)\n1: on 2\n jl 1b\n ret", "7",
	  "7 ? ?", "1*7 2:?" },
	{ "a_table_leads_to_the_last_instruction",
	  "b 1\n jmp *table_6(,%rax,8)\n1: b 2\n jmp 4f\n2: row 3\n jmp 4f\n4: ret\n"
	  " function behind_the_last_instruction\n nop\n b 5\n ret\n"
	  " .section .rodata\ntable_6: .quad 1b, 2b, 4b, behind_the_last_instruction\n .text",
	  "9 4 3", "9 4 ? 9 3 3", "1*9 2*4 3:12 5*3" },
	{ "a_switch_within_an_if_may_end_with_a_break",
	  "b 1\n je 3f\n b 2\n jmp *table_7(,%rax,8)\n1: b 4\n2: b 5\n row 6\n jmp 3f\n b 7\n"
	  "3: b 8\n ret\n"
	  " .section .rodata\ntable_7: .quad 1b, 2b, 3b\n .text",
	  "20 11 4 9 - 20", "20 11 4 9 0 20", "1*20 2*11 4*4 5*9 6:9 7*0 8*20" },
	{ "tables_of_a_function_in_two_parts_are_not_read",
	  "b 1\n jmp *table_8(,%rax,8)\n1: b 2\n jmp 4f\n2: on 3\n jmp 4f\n4: on 5\n ret\n"
	  " function tables_of_a_function_in_two_parts_are_not_read.cold\n b 6\n ret\n"
	  " .section .rodata\ntable_8: .quad 1b, 2b, 1b\n .text",
	  "9 4 2", "9 4 ? ? 2", "1*9 2*4 3:? 5:? 6*2" },
	{ "a_cold_part_without_hooks_was_perhaps_executed",
	  "b 1\n je 2f\n1: b 3\n ret\n"
	  " function a_cold_part_without_hooks_was_perhaps_executed.cold\n"
	  "2: on 2\n nop\n jmp 1b\n"
	  " function behind_a_cold_part\n b 4\n ret",
	  "9 9 3", "9 9 ? 3", "1*9 2:? 3*9 4*3" },
	{ "code_of_the_line_before_is_part_of_a_block",
	  "b 1\n je 1f\n b 9\n on 3\n1: nop\n on 4\n ret", "9 4", "9 4 9", "1*9 3:13 4:9 9*4" },
	{ "code_behind_a_call_belongs_to_it", "b 9\n on 3\n call helper\n nop\n on 4\n ret", "7",
	  "7 7", "3:7 4:7 9*7" },
	{ "a_guard_that_is_jumped_to_begins_with_its_call",
	  "g 1\n lea guard(%rip), %rdi\n je 1f\n jmp 3f\n1: call __sanitizer_cov_trace_pc_guard\n"
	  " nop\n on 2\n3: g 3\n ret",
	  "9 4 9", "9 5 4 9", "1*9 2:4 3*9" },
	{ "calls_before_a_counted_block_returned",
	  "on 1\n call helper\n on 2\n call helper\n b 3\n ret", "7", "7 7 7", "1:7 2:7 3*7" },
	{ "a_guard_that_is_jumped_to_behind_its_address",
	  "g 1\n je 1f\n lea guard(%rip), %rdi\n1: nop\n call __sanitizer_cov_trace_pc_guard\n"
	  " nop\n on 2\n ret",
	  "9 9", "9 ? 9 9", "1*9 2:9" },
	{ "the_address_of_a_guard_may_be_set_two_steps_before",
	  "g 1\n je 1f\n row 2\n lea guard(%rip), %rdi\n nop\n"
	  " call __sanitizer_cov_trace_pc_guard\n nop\n1: g 3\n ret",
	  "9 4 9", "9 4 9", "1*9 2*4 3*9" },
	{ "arguments_are_dropped_by_a_call_and_the_next_statement_stores",
	  "b 1\n call helper\n add $16, %rsp\n row 2\n mov %rax, 8(%rsp)\n1: on 3\n jl 1b\n ret",
	  "7", "7 7 ? ?", "1*7 2:7 3:?" },
	{ "a_call_at_the_end_has_no_part_in_the_next_function",
	  "b 1\n call exit\n function behind_a_call_at_the_end\n mov %rax, 8(%rsp)\n b 2\n ret",
	  "5 3", "5 3 3", "1*8 2*3" },
	{ "the_address_of_a_function_is_no_label",
	  "b 1\n je 1f\n b 2\n lea the_address_of_a_function_is_no_label(%rip), %rax\n jmp *%rax\n"
	  "1: on 3\n ret",
	  "9 4", "9 4 ?", "1*9 2*4 3:?" },
	{ "the_address_of_the_next_function_is_no_label",
	  "b 1\n je 1f\n b 2\n lea behind_what_jumps(%rip), %rax\n jmp *%rax\n1: on 3\n ret\n"
	  " function behind_what_jumps\n b 4\n ret",
	  "9 4 3", "9 4 ? 3", "1*9 2*4 3:? 4*3" },
	{ "the_address_of_a_variable_is_no_label",
	  "b 1\n je 1f\n b 2\n lea guard(%rip), %rax\n jmp *%rax\n1: on 3\n ret", "9 4", "9 4 ?",
	  "1*9 2*4 3:?" },
	{ "labels_as_values_beside_a_variable",
	  "b 1\n je 3f\n b 2\n lea 1f(%rip), %rax\n lea guard(%rip), %rdx\n jmp *%rax\n"
	  "1: on 3\n ret\n3: on 4\n ret",
	  "9 4", "9 4 4 5", "1*9 2*4 3:4 4:5" },
	{ "a_call_that_did_not_always_return_to_store_its_result",
	  "b 1\n call helper\n mov %rax, 8(%rsp)\n on 2\n jmp 1f\n1: b 3\n ret", "7 5", "7 5 5",
	  "1*7 2:5 3*5" },
	{ "a_branch_back_to_a_loop_of_its_line",
	  "b 1\n1: b 2\n je 2f\n row 2\n jl 1b\n2: b 3\n ret", "1 11 1", "1 11 ? 1",
	  "1*1 2*?+ 3*1" },
	{ "a_break_that_is_also_come_to_from_before",
	  "b 1\n je 2f\n b 2\n je 3f\n b 4\n2: b 5\n row 6\n jmp 3f\n b 7\n3: b 8\n ret",
	  "20 12 7 15 - 20", "20 12 7 15 0 20", "1*20 2*12 4*7 5*15 6:15 7*0 8*20" },
	{ "a_break_behind_several_conditions",
	  "b 1\n je 3f\n b 2\n jl 5f\n b 4\n je 6f\n b 5\n jne 7f\n b 6\n row 7\n jmp 3f\n b 8\n"
	  "3: b 9\n ret\n5: b 10\n ret\n6: b 11\n ret\n7: b 12\n ret",
	  "20 11 10 8 5 - 14 1 2 3", "20 11 10 8 5 0 14 1 2 3",
	  "1*20 2*11 4*10 5*8 6*5 7:?+ 8*0 9*14 10*1 11*2 12*3" },
	{ "a_hook_alone_may_have_a_line_of_its_own", "b 1\n je 1f\n hook 2\n on 3\n1: b 4\n ret",
	  "9 4 9", "9 4 9", "1*9 2*4 3:4 4*9" },
	{ "a_hook_alone_is_of_the_next_line",
	  "b 1\n je 1f\n call __sanitizer_cov_trace_pc\n on 2\n1: b 3\n ret", "9 4 9", "9 4 9",
	  "1*9 2*4 3*9" },

	/* of clang's */
	{ "the_end_of_an_if_has_its_line", "g 1\n je 1f\n g 2\n1: row 1\n alone\n g 3\n ret",
	  "9 4 9 9", "9 4 9 9", "1*9 2*4 3*9" },
	{ "a_jump_over_an_else_has_the_line_of_its_condition",
	  "g 1\n je 1f\n g 2\n row 3\n jmp 2f\n1: g 3\n je 2f\n g 4\n2: g 5\n ret", "9 4 5 2 9",
	  "9 4 5 2 9", "1*9 2*4 3*5 4*2 5*9" },
	{ "the_end_of_an_if_that_breaks_has_the_line_of_the_break",
	  "g 1\n je 1f\n row 2\n alone\n jmp 3f\n1: row 2\n alone\n g 3\n3: g 4\n ret", "9 4 5 5 9",
	  "9 4 5 5 9", "1*9 2*4 3*5 4*9" },
	{ "a_branch_has_the_line_of_its_operator",
	  "g 1\n row 2\n je 1f\n g 2\n je 1f\n g 3\n1: g 4\n ret", "9 4 2 9", "9 4 2 9",
	  "1*9 2*4 3*2 4*9" },
	{ "a_call_that_stores_on_its_first_line_is_made_once",
	  "g 9\n je 1f\n g 1\n on 2\n row 1\n call helper\n row 1\n mov %rax, 8(%rsp)\n on 3\n"
	  "1: g 4\n ret",
	  "9 4 9", "9 4 4 9", "1*4 2:4 3:4 4*9 9*9" },
	{ "a_loop_without_code_is_left_to_itself",
	  "g 1\n je 1f\n2: row 1\n alone\n jmp 2b\n1: g 2\n ret", "9 0 9", "9 0 9", "1*9 2*9" },

	/* of gcc's */
	{ "a_jump_over_an_else_behind_a_call_has_the_line_of_the_if",
	  "b 1\n je 1f\n b 2\n call helper\n row 1\n jmp 2f\n1: b 3\n2: b 4\n ret", "9 4 5 9",
	  "9 4 4 5 9", "1*9 2*4 3*5 4*9" },
	{ "a_no_op_behind_an_else_has_the_line_of_the_if",
	  "b 1\n je 1f\n b 2\n jmp 2f\n1: b 3\n2: row 1\n nop\n b 4\n ret", "9 4 5 9", "9 4 5 9 9",
	  "1*9 2*4 3*5 4*9" },
	{ "a_no_op_and_a_jump_are_two_statements",
	  "b 1\n je 1f\n b 2\n row 3\n jmp 2f\n1: row 3\n nop\n row 4\n jmp 2f\n b 5\n"
	  "2: b 6\n ret",
	  "9 4 - 9", "9 4 5 0 9", "1*9 2*4 3:9 4:5 5*0 6*9" },
	{ "a_branch_to_where_the_jump_goes_is_left_out",
	  "b 1\n je 1f\n b 2\n cmp %eax, %edx\n row 3\n jmp 2f\n1: b 4\n2: b 5\n ret", "9 4 5 9",
	  "9 4 5 9", "1*9 2*4 3:?+ 4*5 5*9" },
	{ "a_branch_to_where_the_no_op_is_is_left_out",
	  "b 1\n je 1f\n b 2\n cmp %eax, %edx\n row 3\n nop\n1: b 4\n ret", "9 4 9", "9 4 9",
	  "1*9 2*4 3:?+ 4*9" },
	{ "jumps_without_rows_are_of_the_one_behind_them",
	  "b 1\n je 1f\n b 2\n jl 2f\n b 3\n row 4\n jmp 3f\n1: row 1\n nop\n jmp 3f\n2: row 2\n"
	  " nop\n row 4\n jmp 3f\n b 5\n3: b 6\n ret",
	  "20 12 5 - 20", "20 12 5 8 7 0 20", "1*20 2*12 3*5 4:?+ 5*0 6*20" },

	/* The last: nothing comes behind its last piece. */
	{ "two_unknown_ways_are_unknown", "b 1\n je 1f\n jl 2f\n on 3\n1: on 4\n2: on 5\n ret", "9",
	  "9 ? ? ? ?", "1*9 3:? 4:? 5:?" },
};

enum { N_EXAMPLES = sizeof(examples) / sizeof(*examples) };

/* ---- the program made of them ---- */

struct fixture {
	struct object_file *object;
	struct symbols *symbols;
	struct profile *profile;
	struct flow *flow;
};

static void write_function(FILE *f, const char *name, const char *code, size_t file)
{
	fprintf(f, "\t.file %zu \"%s.c\"\n\t.set file, %zu\n", file, name, file);
	fprintf(f, "\t.globl %s\n\t.type %s, %%function\n%s:\n%s\n", name, name, name, code);
}

static void fail(struct kin_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", kin_error_message(err));
	exit(99);
}

static bool assemble(void)
{
	return !system("as -o prog.o prog.s && "
		       "ld -static -e exit -Ttext=0x401000 --build-id=none -o prog prog.o");
}

static struct fixture open_program(void)
{
	struct fixture x = { 0 };
	fail(object_open("prog", &(struct object_opts){ 0 }, &x.object));
	fail(symbols_new(x.object, &(struct symbols_opts){ .lines = true }, &x.symbols));
	size_t n;
	symbols_files(x.symbols, &n); /* locates all */
	return x;
}

static void close_program(struct fixture *x)
{
	flow_free(x->flow);
	profile_free(x->profile);
	symbols_free(x->symbols);
	object_free(x->object);
}

static uint64_t address_of(const struct symbols *s, const char *name)
{
	for (symid i = 0; i < s->n; i++)
		if (s->at[i].is_function && !strcmp(s->at[i].name, name))
			return s->at[i].addr;
	fprintf(stderr, "no symbol %s\n", name);
	exit(99);
}

/* The code of an example: up to the next one's. */
static struct address_range range_of(const struct fixture *x, size_t example)
{
	const char *next =
		example + 1 < N_EXAMPLES ? examples[example + 1].name : "__sanitizer_cov_trace_pc";
	return (struct address_range){ address_of(x->symbols, examples[example].name),
				       address_of(x->symbols, next) };
}

/* The addresses of the hooks' calls in a function. */
struct hooks {
	const struct fixture *x;
	VEC(uint64_t) at;
};

static void add_hook(const struct object_step *step, void *arg)
{
	struct hooks *h = arg;
	symid id = step->kind == STEP_CALL ? symbols_find(h->x->symbols, step->target) : NONE;
	if (id != NONE && !strncmp(h->x->symbols->at[id].name, "__sanitizer", 11))
		vec_push(&h->at, step->addr);
}

static struct hooks hooks_of(const struct fixture *x, struct address_range r)
{
	struct hooks h = { .x = x };
	OK(object_steps(x->object, r.low, r.high, add_hook, &h));
	return h;
}

enum { CALL_SIZE = 5 };

/* Records have the address of the hook's call, as in gcc's gmon.out, or its return address; or some
 * of each, as in a sum of both. */
static void add_counts(struct profile_builder *b, const struct fixture *x, objid object,
		       size_t example)
{
	struct hooks h = hooks_of(x, range_of(x, example));
	const char *counts = examples[example].counts;
	for (size_t i = 0; i < h.at.n; i++) {
		char *end;
		uint64_t count = strtoull(counts, &end, 10), here = i % 3 ? count / i : count;
		struct block called = { h.at.at[i], here, object },
			     returned = { h.at.at[i] + CALL_SIZE, count - here, object };
		if (end != counts) {
			profile_add_block(b, called);
			profile_add_block(b, returned);
			if (count == UINT64_MAX) /* sums stay there */
				profile_add_block(b, called);
		}
		counts = end != counts ? end : counts + strspn(counts, " -");
	}
	vec_free(&h.at);
}

/* ---- results as text ---- */

static const char *pieces_of(const struct fixture *x, struct address_range r)
{
	static char text[1000];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < x->flow->n_pieces; i++) {
		const struct flow_piece *p = &x->flow->pieces[i];
		if (p->start < r.low || p->start >= r.high)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       p->is_known ? "%s%" PRIu64 : "%s?", at ? " " : "", p->count);
	}
	return text;
}

static const char *lines_of(const struct fixture *x, struct address_range r)
{
	enum { MOST_LINES = 50 };
	static char text[1000];
	uint32_t *line_of = xrealloc(NULL, x->symbols->n, sizeof(*line_of));
	size_t at = 0;

	for (symid i = 0; i < x->symbols->n; i++) {
		const struct symbol *s = &x->symbols->at[i];
		bool is_of =
			s->addr >= r.low && s->addr < r.high && s->line && s->line < MOST_LINES;
		line_of[i] = is_of ? s->line : NONE;
	}
	struct flow_line *lines = flow_lines(x->flow, x->symbols, line_of, MOST_LINES);
	text[0] = '\0';
	for (unsigned i = 0; i < MOST_LINES; i++) {
		const struct flow_line *l = &lines[i];
		if (!l->is_measured && !l->is_elsewhere)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u%c", at ? " " : "", i,
				       l->starts_block ? '*' : ':');
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       l->is_known      ? "%" PRIu64
				       : l->is_executed ? "?+"
							: "?",
				       l->count);
		if (l->is_known && l->is_executed != (l->count > 0))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "!");
	}
	free(lines);
	free(line_of);
	return text;
}

static const struct coverage_line *covered(const struct coverage *c, const char *name,
					   unsigned long line)
{
	for (size_t i = 0; i < c->n_files; i++) {
		const char *slash = strrchr(c->files[i].path, '/');
		const char *file = slash ? slash + 1 : c->files[i].path;
		if (strncmp(file, name, strlen(name)) || strcmp(file + strlen(name), ".c"))
			continue;
		for (uint32_t k = 0; k < c->files[i].n_lines; k++)
			if (c->lines[c->files[i].first_line + k].line == line)
				return &c->lines[c->files[i].first_line + k];
	}
	return NULL;
}

/* Whether the coverage says the same of an example's lines; `starts`: but for those that no block
 * starts on, unless they were never executed. */
static bool is_covered(const struct coverage *c, const struct example *e, bool starts)
{
	const char *text = e->lines;
	while (*text) {
		char *at;
		const struct coverage_line *l = covered(c, e->name, strtoul(text, &at, 10));
		bool is_left_out = starts && *at == ':';
		bool is_unknown = *++at == '?', is_executed = is_unknown && at[1] == '+';
		uint64_t count = is_unknown ? 0 : strtoull(at, &at, 10);
		is_unknown |= is_left_out && count > 0;
		bool is_count = is_left_out || (l && l->sum == count && l->total == count);
		if (l && (l->is_known == is_unknown || !is_count ||
			  l->is_executed != (count || is_executed)))
			return false;
		text = at + strcspn(at, " ");
		text += *text == ' ';
	}
	return true;
}

/* Places with a line, each once: by file, line and address; the figures of files are sums. */
static bool is_in_order(const struct coverage *c, const struct symbols *s)
{
	size_t n_located = 0, n = 0, place = 0;
	bool right = true;
	for (symid i = 0; i < s->n; i++)
		n_located += s->at[i].file && s->at[i].line;
	for (size_t i = 0; i < c->n_files; i++) {
		const struct coverage_file *f = &c->files[i];
		uint64_t total = 0;
		bool is_executed = false;
		right &= f->first_line == n;
		n += f->n_lines;
		for (size_t k = f->first_line; k < n; k++) {
			const struct coverage_line *l = &c->lines[k];
			total = capped_sum(total, l->total);
			is_executed |= l->is_executed;
			right &= k == f->first_line || l[-1].line < l->line;
			right &= l->first_place == place && l->n_places > 0;
			for (uint32_t m = 0; m < l->n_places; m++, place++) {
				const struct symbol *at = &s->at[c->places[place]];
				right &= !strcmp(at->file, f->path) && at->line == l->line;
				right &= !m || c->places[place - 1] < c->places[place];
			}
		}
		right &= total == f->total && is_executed == f->is_executed;
	}
	return right && n == c->n_lines && place == c->n_places && place == n_located;
}

/* Files are in the order of the symbol table, from its end. */
static bool is_newest_first(const struct coverage *c, struct symbols *s)
{
	size_t n, at;
	const char *const *files = symbols_files(s, &n);
	at = n;
	for (size_t i = 0; i < c->n_files; i++) {
		while (at && strcmp(files[at - 1], c->files[i].path) != 0)
			at--;
		if (!at--)
			return false;
	}
	return c->n_files > 10;
}

static void test_coverage(const struct fixture *x)
{
	struct callgraph *g = callgraph_new(x->profile, x->symbols, &(struct callgraph_opts){ 0 });
	struct coverage *c = coverage_new(x->profile, x->symbols, g,
					  &(struct coverage_opts){ .carry = CARRY_MEASURED });
	for (size_t i = 0; i < N_EXAMPLES; i++)
		tap_ok(is_covered(c, &examples[i], false), __FILE__, __LINE__, examples[i].name);
	OK(is_in_order(c, x->symbols));
	OK(is_newest_first(c, x->symbols));
	coverage_free(c);
	c = coverage_new(x->profile, x->symbols, g, &(struct coverage_opts){ .carry = CARRY_NONE });
	size_t wrong = 0;
	for (size_t i = 0; i < N_EXAMPLES; i++)
		wrong += !is_covered(c, &examples[i], true);
	OK(!wrong);
	coverage_free(c);
	callgraph_free(g);
}

/* Counts of a coverage tool replace counts from blocks, for its lines alone. */
static void test_line_counts(const struct fixture *x)
{
	struct callgraph *g = callgraph_new(x->profile, x->symbols, &(struct callgraph_opts){ 0 });
	struct line_counts *counts = line_counts_new();
	struct coverage_opts o = { .carry = CARRY_MEASURED, .line_counts = counts };
	const struct example *e = &examples[1]; /* lines 1 to 3, 5 times */
	struct coverage *before = coverage_new(x->profile, x->symbols, g,
					       &(struct coverage_opts){ .carry = CARRY_MEASURED });
	for (size_t i = 0; i < before->n_files; i++)
		if (strstr(before->files[i].path, e->name)) {
			line_counts_add(counts, "", before->files[i].path, 1, 0);
			line_counts_add(counts, "", before->files[i].path, 2, 77);
			line_counts_add(counts, "", before->files[i].path, 4, 9); /* is none */
		}
	coverage_free(before);
	struct coverage *c = coverage_new(x->profile, x->symbols, g, &o);
	const struct coverage_line *one = covered(c, e->name, 1), *two = covered(c, e->name, 2),
				   *three = covered(c, e->name, 3);
	OK(one->is_known && !one->is_executed && one->sum == 0);
	OK(two->is_known && two->is_executed && two->sum == 77 && two->total == 77 &&
	   two->most == 77 && two->n_counts == 1 && c->counts.at[two->first_count] == 77);
	OK(three->sum == 5 && !covered(c, e->name, 4));
	OK(is_in_order(c, x->symbols));
	coverage_free(c);
	callgraph_free(g);
	line_counts_free(counts);
}

/* How often blocks of a line of an example were executed; NONE: it has none. */
static uint64_t block_count_of(const struct blocks *b, const struct symbols *s, const char *example,
			       uint32_t line)
{
	uint64_t sum = NONE;
	for (symid i = 0; i < s->n; i++) {
		const struct symbol *at = &s->at[i];
		if (at->line != line || !at->file || !strstr(at->file, example))
			continue;
		for (uint32_t k = b->first[i]; k < b->first[i + 1]; k++)
			sum = (sum == NONE ? 0 : sum) + b->at[k].count;
	}
	return sum;
}

/* Blocks are in their places, by address, each once, with all that was recorded of them; those
 * without a record are there, too. */
static void check_blocks(const struct profile *p, const struct symbols *s, const struct flow *f,
			 size_t outside)
{
	struct blocks *b = blocks_new(p, s, NULL);
	uint64_t sum = 0, recorded = 0;
	size_t wrong = 0, never = 0, hooks = 0;
	for (symid i = 0; i < s->n; i++)
		for (uint32_t k = b->first[i]; k < b->first[i + 1]; k++) {
			uint64_t addr = b->at[k].addr;
			wrong += addr < s->at[i].addr || addr >= s->at[i].end;
			wrong += k > b->first[i] && addr <= b->at[k - 1].addr;
			sum = capped_sum(sum, b->at[k].count);
			never += !b->at[k].count;
		}
	for (size_t i = 0; i < p->n_blocks; i++)
		recorded = capped_sum(recorded, p->blocks[i].count);
	for (size_t i = 0; i < f->n_pieces; i++)
		hooks += f->pieces[i].hook && !f->pieces[i].count;
	OK(!wrong && b->first[s->n] == b->n && b->n_outside == outside);
	OK(sum == recorded && b->has_saturated);
	OK(never >= hooks && hooks > 5);
	blocks_free(b);
}

/* A hook with a row belongs to that line; without one it may belong to the next line. */
static void test_blocks(const struct fixture *x)
{
	struct blocks *b = blocks_new(x->profile, x->symbols, NULL);
	const char *own = "a_hook_alone_may_have", *next = "a_hook_alone_is_of";
	OK(block_count_of(b, x->symbols, own, 1) == 9);
	OK(block_count_of(b, x->symbols, own, 2) == 4);
	OK(block_count_of(b, x->symbols, next, 1) == 9);
	OK(block_count_of(b, x->symbols, next, 2) == 4);
	blocks_free(b);
	check_blocks(x->profile, x->symbols, x->flow, 1);
}

/* ---- time of lines, by stacks ---- */

enum { STACKED = 200, DEEPEST = 6, SOME_PLACES = 12 };

/* Of each sample its time once for each line on its stack, however often it is there. */
static bool is_inclusive(const struct coverage *c, const struct samples *s, const symid *places)
{
	for (size_t i = 0; i < c->n_lines; i++) {
		const struct coverage_line *l = &c->lines[i];
		double time = 0;
		for (size_t k = 0; k < s->n; k++) {
			bool is_on = false;
			for (stackid at = s->at[k].stack; at; at = s->stacks[at].caller)
				for (uint32_t m = 0; m < l->n_places; m++)
					is_on |= places[s->stacks[at].frame] ==
						 c->places[l->first_place + m];
			time += is_on ? (double)s->at[k].weight : 0;
		}
		if (time != l->inclusive)
			return false;
	}
	return true;
}

/* Lines that were on a stack, but have the count 0. */
static size_t count_never(const struct coverage *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_lines; i++)
		n += c->lines[i].inclusive > 0 && c->lines[i].is_known && !c->lines[i].most;
	return n;
}

static void test_inclusive(const struct fixture *x, const char *folder)
{
	struct profile_builder *b = profile_builder_new();
	char *path = xprintf("%s/prog", folder);
	objid o = profile_add_object_of(b, path, "", OBJECT_ELF, true);
	uint64_t seed = 2;
	size_t timed = 0;
	free(path);
	profile_add_event(
		b, (struct event){ .name = profile_add_string(b, "e", 1), .unit = EVENT_NS });
	for (size_t i = 0; i < STACKED; i++) {
		struct sample sample = { .count = 1, .weight = 1 + random_below(&seed, 9) };
		for (uint32_t n = 1 + random_below(&seed, DEEPEST); n--;) {
			/* innermost is always the same one: others are only on stacks */
			symid place = n ? 3 * random_below(&seed, SOME_PLACES) : 0;
			struct frame f = { .object = o, .addr = x->symbols->at[place].addr };
			sample.stack = profile_add_stack(b, sample.stack, profile_add_frame(b, f));
		}
		profile_add_sample(b, sample);
	}
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .lines = true });
	struct symbols *s = program_symbols(g);
	struct profile *flat = program_flatten(g, p);
	struct callgraph *graph = callgraph_new(
		flat, s, &(struct callgraph_opts){ .samples = &p->samples, .program = g });
	struct coverage_opts with = { .samples = &p->samples, .program = g };
	struct coverage *c = coverage_new(flat, s, graph, &with);
	for (size_t i = 0; i < c->n_lines; i++)
		timed += c->lines[i].inclusive > 0;
	OK(is_inclusive(c, &p->samples, program_places(g)) && timed > 5);
	OK(!count_never(c)); /* no calls were counted, and it was on stacks */
	coverage_free(c);
	c = coverage_new(flat, s, graph, &(struct coverage_opts){ 0 });
	for (size_t i = 0; i < c->n_lines; i++)
		timed += c->lines[i].inclusive > 0 ? 1000 : 0;
	OK(timed < 1000); /* without stacks nothing is known of it */
	coverage_free(c);
	callgraph_free(graph);
	profile_free(flat);
	program_free(g);
	profile_free(p);
}

/* ---- the same program as two objects: each has its own counts ---- */

static struct address_range range_in(const struct symbols *s, size_t part, size_t example)
{
	const char *next =
		example + 1 < N_EXAMPLES ? examples[example + 1].name : "__sanitizer_cov_trace_pc";
	struct address_range r = { 0, 0 };
	for (symid i = 0; i < s->n; i++) {
		if (!s->at[i].is_function || s->at[i].part != part)
			continue;
		r.low = strcmp(s->at[i].name, examples[example].name) ? r.low : s->at[i].addr;
		r.high = strcmp(s->at[i].name, next) ? r.high : s->at[i].addr;
	}
	return r;
}

static objid add_program(struct profile_builder *b, const char *folder, const char *name)
{
	char *path = xprintf("%s/%s", folder, name);
	objid o = profile_add_object_of(b, path, "", OBJECT_ELF, false);
	struct frame f = { .object = o, .addr = 0x401000 };
	profile_add_sample(
		b, (struct sample){ .stack = profile_add_stack(b, 0, profile_add_frame(b, f)),
				    .count = 1,
				    .weight = 1 });
	free(path);
	return o;
}

/* Every second example is counted in the one, the others in the other. */
static void test_two_objects(const struct fixture *x, const char *folder, size_t first)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	objid objects[] = { add_program(b, folder, "prog"), add_program(b, folder, "twin") };
	for (size_t i = 0; i < N_EXAMPLES; i++)
		add_counts(b, x, objects[(i + first) % 2], i);
	struct profile *p = profile_finish(b);
	struct program *g = program_new(p, NULL, &(struct program_opts){ .lines = true });
	struct profile *flat = program_flatten(g, p);
	struct symbols *s = program_symbols(g);
	size_t n, wrong = 0, parts = 0;
	symbols_files(s, &n);
	struct flow *f = flow_new(flat, s);
	for (size_t part = 0; f && part < s->n_parts; part++) {
		if (!range_in(s, part, 0).low)
			continue;
		struct fixture y = { .symbols = s, .flow = f };
		for (size_t i = 0; i < N_EXAMPLES; i++)
			if ((i + first) % 2 == parts)
				wrong += strcmp(pieces_of(&y, range_in(s, part, i)),
						examples[i].pieces) != 0;
		parts++;
	}
	OK(f && parts == 2 && !wrong);
	check_blocks(flat, s, f, 0);
	struct blocks *blocks = blocks_new(flat, s, NULL);
	OK(block_count_of(blocks, s, "a_hook_alone_is_of", 1) == 9);
	OK(block_count_of(blocks, s, "a_hook_alone_is_of", 2) == 4);
	blocks_free(blocks);
	flow_free(f);
	profile_free(flat);
	program_free(g);
	profile_free(p);
}

static void test_examples(const char *folder)
{
	FILE *f = fopen("prog.s", "w");
	fputs(macros, f);
	for (size_t i = 0; i < N_EXAMPLES; i++)
		write_function(f, examples[i].name, examples[i].code, i + 2);
	fputs(library, f);
	fclose(f);
	OK(assemble());
	struct fixture x = open_program();
	struct profile_builder *b = profile_builder_new();
	for (size_t i = 0; i < N_EXAMPLES; i++)
		add_counts(b, &x, 0, i);
	profile_add_block(b, (struct block){ .addr = 16, .count = 1 }); /* is in no place */
	x.profile = profile_finish(b);
	x.flow = flow_new(x.profile, x.symbols);
	for (size_t i = 0; i < N_EXAMPLES; i++) {
		const struct example *e = &examples[i];
		tap_str(pieces_of(&x, range_of(&x, i)), e->pieces, __FILE__, __LINE__, e->name);
		tap_str(lines_of(&x, range_of(&x, i)), e->lines, __FILE__, __LINE__, e->name);
	}
	test_coverage(&x);
	test_line_counts(&x);
	test_blocks(&x);
	test_inclusive(&x, folder);
	OK(!system("cp prog twin"));
	for (size_t i = 0; i < 2; i++)
		test_two_objects(&x, folder, i);
	close_program(&x);
}

/* ---- random functions: all counts that are shown are true ---- */

enum { FUNCTIONS = 150, MOST_BLOCKS = 9, MOST_WALKS = 40, MOST_STEPS = 300 };

enum block_end { GOES_ON, JUMPS, BRANCHES, CALLS, RETURNS };

struct random_block {
	enum block_end end;
	uint32_t target;
	bool is_counted;
	uint64_t count;
};

struct random_function {
	struct random_block at[MOST_BLOCKS + 1]; /* and the head */
	uint32_t n;
};

static struct random_function random_function(uint64_t *seed)
{
	static const enum block_end ends[] = { GOES_ON,  GOES_ON, JUMPS,  BRANCHES,
					       BRANCHES, CALLS,   RETURNS };
	struct random_function f = { .n = 1 + random_below(seed, MOST_BLOCKS) };
	for (uint32_t i = 0; i < f.n; i++) {
		f.at[i].end = i + 1 == f.n ? RETURNS : ends[random_below(seed, ARRAY_LEN(ends))];
		f.at[i].target = random_below(seed, f.n);
		f.at[i].is_counted = !i || random_below(seed, 3);
	}
	return f;
}

/* Walks that come to an end, as calls of a function do. */
static void execute(struct random_function *f, uint64_t *seed)
{
	for (uint32_t walk = random_below(seed, MOST_WALKS); walk--;) {
		uint64_t counts[MOST_BLOCKS] = { 0 };
		uint32_t steps = 0, at = 0;
		while (steps++ < MOST_STEPS) {
			const struct random_block *b = &f->at[at];
			counts[at]++;
			if (b->end == RETURNS)
				break;
			bool jumps =
				b->end == JUMPS || (b->end == BRANCHES && random_below(seed, 2));
			at = jumps ? b->target : at + 1;
		}
		for (uint32_t i = 0; i < f->n && steps < MOST_STEPS; i++)
			f->at[i].count += counts[i];
		f->at[MOST_BLOCKS].count += steps < MOST_STEPS;
	}
}

/* Block i is line i + 1; before the first one the head, of the line behind all, saves a register.
 */
static void write_random(FILE *out, const struct random_function *f, uint32_t number)
{
	static const char *const ends[] = { "nop", "jmp", "jl", "call helper", "ret" };
	fprintf(out, "\tfunction random%u\n\trow %u\n\tpush %%rbp\n", number, MOST_BLOCKS + 1);
	for (uint32_t i = 0; i < f->n; i++) {
		const struct random_block *b = &f->at[i];
		fprintf(out, "%u:\t%s %u\n\t%s", 10 + i, b->is_counted ? "b" : "on", i + 1,
			ends[b->end]);
		bool jumps = b->end == JUMPS || b->end == BRANCHES;
		if (jumps)
			fprintf(out, " %u%c", 10 + b->target, b->target > i ? 'f' : 'b');
		fputc('\n', out);
	}
}

/* From the function's hooks, as add_counts() does. */
static void add_random_counts(struct profile_builder *b, const struct fixture *x,
			      const struct random_function *f, struct address_range r)
{
	struct hooks h = hooks_of(x, r);
	size_t hook = 0;
	for (uint32_t i = 0; i < f->n && hook < h.at.n; i++)
		if (f->at[i].is_counted && f->at[i].count)
			profile_add_block(b, (struct block){ .addr = h.at.at[hook++],
							     .count = f->at[i].count });
		else
			hook += f->at[i].is_counted;
	OK(hook == h.at.n);
	vec_free(&h.at);
}

enum { EACH = MOST_BLOCKS + 1, LINES = FUNCTIONS * EACH };

/* The line of the code at addr among those of all functions, or NONE. */
static uint32_t line_at(const struct fixture *x, uint64_t addr)
{
	symid place = symbols_find(x->symbols, addr);
	symid function = symbols_find_function(x->symbols, addr);
	unsigned number;
	if (place == NONE || function == NONE ||
	    sscanf(x->symbols->at[function].name, "random%u", &number) != 1)
		return NONE;
	return number * EACH + x->symbols->at[place].line - 1;
}

static uint64_t true_count(const struct random_function *all, uint32_t line)
{
	return all[line / EACH].at[line % EACH].count;
}

static void test_pieces(const struct fixture *x, const struct random_function *all)
{
	size_t wrong = 0, known = 0, n = 0;
	for (size_t i = 0; i < x->flow->n_pieces; i++) {
		const struct flow_piece *p = &x->flow->pieces[i];
		uint32_t line = line_at(x, p->start);
		if (p->addr == p->end || line == NONE)
			continue;
		n++;
		known += p->is_known;
		wrong += p->is_known && p->count != true_count(all, line);
	}
	printf("# %zu of %zu pieces\n", known, n);
	OK(!wrong);
	OK(known >= 741); /* a better analysis may know more */
}

/* The ways into a piece add up to it. */
static void test_edges(const struct fixture *x)
{
	uint64_t *in = xalloc(x->flow->n_pieces * sizeof(*in));
	bool *all = xalloc(x->flow->n_pieces * sizeof(*all));
	size_t wrong = 0, known = 0;
	for (size_t i = 0; i < x->flow->n_pieces; i++)
		all[i] = !x->flow->pieces[i].enters_unseen && x->flow->pieces[i].is_known;
	for (size_t i = 0; i < x->flow->n_edges; i++) {
		const struct flow_edge *e = &x->flow->edges[i];
		in[e->to] += e->count;
		all[e->to] &= e->is_known;
		known += e->is_known;
	}
	for (size_t i = 0; i < x->flow->n_pieces; i++)
		wrong += all[i] && in[i] != x->flow->pieces[i].count;
	printf("# %zu of %zu edges\n", known, x->flow->n_edges);
	OK(!wrong);
	OK(known >= 674);
	free(in);
	free(all);
}

static void test_lines(const struct fixture *x, const struct random_function *all)
{
	uint32_t *line_of = xrealloc(NULL, x->symbols->n, sizeof(*line_of));
	size_t wrong = 0, known = 0, n = 0;
	for (symid i = 0; i < x->symbols->n; i++)
		line_of[i] = line_at(x, x->symbols->at[i].addr);
	struct flow_line *lines = flow_lines(x->flow, x->symbols, line_of, LINES);
	for (uint32_t i = 0; i < LINES; i++) {
		uint64_t truth = true_count(all, i);
		n += lines[i].is_measured;
		known += lines[i].is_known;
		wrong += lines[i].is_known && lines[i].count != truth;
		wrong += lines[i].is_executed && !truth;
	}
	printf("# %zu of %zu lines\n", known, n);
	OK(!wrong);
	OK(known >= 816);
	free(lines);
	free(line_of);
}

static void test_random_functions(void)
{
	static struct random_function all[FUNCTIONS];
	uint64_t seed = 1;
	char name[20];
	FILE *f = fopen("prog.s", "w");
	fputs(macros, f);
	fputs("\t.file 2 \"random.c\"\n\t.set file, 2\n", f);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		all[i] = random_function(&seed);
		execute(&all[i], &seed);
		write_random(f, &all[i], i);
	}
	fputs(library, f);
	fclose(f);
	OK(assemble());
	struct fixture x = open_program();
	struct profile_builder *b = profile_builder_new();
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct address_range r;
		snprintf(name, sizeof(name), "random%u", i);
		r.low = address_of(x.symbols, name);
		snprintf(name, sizeof(name), "random%u", i + 1);
		r.high = address_of(x.symbols,
				    i + 1 < FUNCTIONS ? name : "__sanitizer_cov_trace_pc");
		add_random_counts(b, &x, &all[i], r);
	}
	x.profile = profile_finish(b);
	x.flow = flow_new(x.profile, x.symbols);
	test_pieces(&x, all);
	test_edges(&x);
	test_lines(&x, all);
	close_program(&x);
}

/* ---- functions inlined between two places of this program ---- */

#define INLINED static inline __attribute__((always_inline))

static volatile int sink;
INLINED void innermost(void) { sink++; }
INLINED void middle(void)
{
	sink += 2;
	innermost();
	sink += 3;
}
INLINED void beside(void) { sink += 4; }
__attribute__((noinline)) static void outermost(void)
{
	sink += 5;
	middle();
	sink += 6;
	beside();
	innermost();
	sink += 7;
}
__attribute__((noinline)) static void another(void)
{
	sink += 5;
	middle();
}

enum { MOST_INLINED = 8 };

struct inlined_list { /* innermost first */
	struct object_inline at[MOST_INLINED];
	size_t n;
};

static struct inlined_list inlined_at(struct object_file *o, uint64_t addr)
{
	struct inlined_list l = { .n = 0 };
	size_t n;
	struct object_inline *all = object_inlines(o, &addr, 1, &n);
	for (size_t i = 0; i < n && i < MOST_INLINED; i++)
		l.at[l.n++] = all[i];
	free(all);
	return l;
}

/* Functions around the outer place are around the inner one, too; the next one is requested. */
static const char *expected(const struct inlined_list *inner, const struct inlined_list *outer)
{
	for (size_t i = 1; i <= outer->n; i++)
		if (i > inner->n ||
		    inner->at[inner->n - i].depth != outer->at[outer->n - i].depth ||
		    strcmp(inner->at[inner->n - i].name, outer->at[outer->n - i].name) != 0)
			return "";
	return inner->n > outer->n ? inner->at[inner->n - outer->n - 1].name : "";
}

static void test_inlined(void)
{
	enum { ADDRESSES = 120 };
	struct fixture x = { 0 };
	struct inlined_list lists[ADDRESSES];
	VEC(struct inlined_pair) pairs = { 0 };
	VEC(uint64_t) addrs = { 0 };
	size_t wrong = 0, found = 0;
	uint64_t some = 0; /* where something is inlined */
	fail(object_open("/proc/self/exe", &(struct object_opts){ 0 }, &x.object));
	fail(symbols_new(x.object, &(struct symbols_opts){ 0 }, &x.symbols));
	outermost();
	another();
	static const char *const functions[] = { "outermost", "another" };
	for (size_t f = 0; f < ARRAY_LEN(functions); f++) {
		uint64_t start = address_of(x.symbols, functions[f]);
		uint64_t end = x.symbols->at[symbols_find(x.symbols, start)].end;
		for (uint64_t at = start; at < end && at < start + ADDRESSES / 2; at++)
			vec_push(&addrs, at);
	}
	for (size_t i = 0; i < addrs.n; i++)
		for (size_t k = 0; k < addrs.n; k++)
			vec_push(&pairs, ((struct inlined_pair){ addrs.at[i], addrs.at[k], NULL }));
	flow_find_inlined(x.symbols, pairs.at, pairs.n);
	for (size_t i = 0; i < addrs.n; i++)
		lists[i] = inlined_at(x.object, addrs.at[i]);
	for (size_t i = 0; i < pairs.n; i++) {
		const char *got = pairs.at[i].function ? pairs.at[i].function : "";
		wrong += strcmp(got, expected(&lists[i / addrs.n], &lists[i % addrs.n])) != 0;
		found += got[0] != '\0';
		some = got[0] ? pairs.at[i].inner : some;
	}
	OK(!wrong);
	OK(found > 0);

	const struct symbols_part *part = &x.symbols->parts[0];
	struct inlined_pair outside[] = { { part->high, addrs.at[0], NULL },
					  { addrs.at[0], part->high, NULL },
					  { part->low - 1, addrs.at[0], NULL },
					  { part->low, part->low, NULL } };
	flow_find_inlined(x.symbols, outside, ARRAY_LEN(outside));
	for (size_t i = 0; i < ARRAY_LEN(outside); i++)
		OK(!outside[i].function);
	struct inlined_pair inside[] = { { some, part->low, NULL },
					 { some, part->high - 1, NULL } };
	flow_find_inlined(x.symbols, inside, ARRAY_LEN(inside));
	OK(inside[0].function && inside[1].function);
	flow_find_inlined(x.symbols, NULL, 0);
	vec_free(&pairs);
	vec_free(&addrs);
	close_program(&x);
}

int main(void)
{
#ifndef __x86_64__
	printf("1..0 # SKIP the functions are x86-64's\n");
	return 0;
#endif
	char dir[] = "/tmp/test_flow.XXXXXX", command[100];
	if (!mkdtemp(dir) || chdir(dir) || system("as --version >/dev/null 2>&1")) {
		printf("1..0 # SKIP no assembler here\n");
		return 0;
	}
	test_examples(dir);
	test_random_functions();
	test_inlined();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	OK(!system(command));
	return DONE();
}
