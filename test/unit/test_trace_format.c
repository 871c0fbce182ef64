/* Records of trace points as text: the kernel's descriptions, and what is made of them. */
#include <stdlib.h>

#include "base/base.h"
#include "input/trace_format.h"
#include "tap.h"

#define COMMON                                                                                     \
	"name: x\nID: 7\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELDS                                                                                     \
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"                                   \
	"\tfield:int a;\toffset:16;\tsize:4;\tsigned:1;\n"                                         \
	"\tfield:unsigned int b;\toffset:20;\tsize:4;\tsigned:0;\n"                                \
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:unsigned long p;\toffset:28;\tsize:8;\tsigned:0;\n\nprint fmt: "

static const uint8_t raw[] = {
	7, 0, 0, 0, 1,  0, 0, 0, 'p',  'r',  'o', 'g', 0, 'x', 'x', 'x', 0xfe, 0xff, 0xff, 0xff,
	5, 0, 0, 0, 36, 0, 4, 0, 0x10, 0x20, 0,   0,   0, 0,   0,   0,   'e',  't',  'h',  0,
};

static const char *function(void *arg, uint64_t addr, uint64_t *start)
{
	*start = 0x2000;
	return addr == 0x2010 ? arg : NULL;
}

/* Of the record above, or of its first bytes. */
static const char *text_of(const char *format, size_t size)
{
	static char *text;
	size_t n;
	char name[] = "there";
	struct trace_layout layout = { .function = function, .arg = name };
	char *all = xprintf("%s%s%s", COMMON, FIELDS, format);
	struct trace_format *f = trace_format_new(all, strlen(all), layout);
	free(text);
	FILE *out = open_memstream(&text, &n);
	trace_format_print(f, raw, size, out);
	fclose(out);
	trace_format_free(f);
	free(all);
	return text;
}

static const char *text(const char *format) { return text_of(format, sizeof(raw)); }

static void test_values(void)
{
	OK_STR(text("\"comm=%s a=%d b=%u\", REC->comm, REC->a, REC->b\n"), "comm=prog a=-2 b=5");
	OK_STR(text("\"%x %#lx %5d|%-5d|%03u\", REC->a, (unsigned long)(REC->p), REC->b, REC->b, "
		    "REC->b"),
	       "fffffffe 0x2010     5|5    |005");
	OK_STR(text("\"%s %d\", __get_str(name), __get_dynamic_array_len(name)"), "eth 4");
	OK_STR(text("\"%pS %ps %p\", (void *)REC->p, REC->p, REC->b"), "there+0x10 there 0x5");
	OK_STR(text("\"%c%%\" \" %s\", REC->comm[1], \"x\""), "r% x");
}

static void test_expressions(void)
{
	OK_STR(text("\"%d\", 1 + 2 * 3 << 1"), "14");
	OK_STR(text("\"%d %d\", REC->a < 0 ? 10 : 20, REC->b & 4 && !0"), "10 1");
	OK_STR(text("\"%llu\", (u8)REC->a"), "254");
	OK_STR(text("\"%s\", REC->b & ((1 << 1) - 1) ? \"odd\" : \"even\""), "odd");
	OK_STR(text("\"%d\", REC->b / 0"), "0");
	OK_STR(text("\"%d\", SOME_CONSTANT"), "0");
}

static void test_names(void)
{
	OK_STR(text("\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"}, {2, \"B\"}, {4, \"C\"})"),
	       "A|C");
	OK_STR(text("\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"})"), "A|0x4");
	OK_STR(text("\"%s\", __print_symbolic(REC->b, {1, \"one\"}, {5, \"five\"})"), "five");
	OK_STR(text("\"%s\", __print_symbolic(REC->b, {NO_NUMBER, \"one\"})"), "0x5");
	OK_STR(text("\"%s\", __print_hex(REC->comm, 4)"), "70 72 6f 67");
}

/* What is not understood, or not there, invents nothing. */
static void test_damage(void)
{
	OK_STR(text("\"%d\", unknown_function(REC->a)"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
	OK_STR(text("\"%d\", REC->nothing"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
	OK_STR(text("\"%d %d\", REC->a"), "-2 ");
	OK_STR(text_of("\"%s %d %s\", REC->comm, REC->a, __get_str(name)", 16), "prog 0 ");
	OK_STR(text_of("\"%s|%d\", __get_str(name), REC->b", 30), "|5");
	OK_STR(text("\"%s\", ((((((((((REC->comm"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
}

static void test_deep(void)
{
	enum { N = 20000 };
	char *deep = malloc(N + 64);
	strcpy(deep, "\"%d\", ");
	memset(deep + strlen(deep), '(', N);
	strcpy(deep + 6 + N, "1\n");
	OK(strncmp(text(deep), "[FAILED", 7) == 0);
	memset(deep + 6, '-', N);
	OK(strncmp(text(deep), "[FAILED", 7) == 0);
	free(deep);
}

int main(void)
{
	struct trace_format *f =
		trace_format_new(COMMON, strlen(COMMON), (struct trace_layout){ 0 });
	OK(trace_format_id(f) == 7);
	OK_STR(trace_format_name(f), "x");
	trace_format_free(f);
	test_values();
	test_expressions();
	test_names();
	test_damage();
	test_deep();
	return DONE();
}
