/* Executions of lines: how paths are matched, and how gcov's JSON is read. */
#include "profile/line_counts.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "input/gcov.h"
#include "lib/gzip_pack.h"
#include "tap.h"

/* How often a line ran; -1: not known. */
static long long count_of(const struct line_counts *l, const char *path, uint32_t line)
{
	uint64_t n;
	return line_counts_find(l, line_counts_file(l, path), line, &n) ? (long long)n : -1;
}

/* ---- paths ---- */

/* Whether a search for `path` finds the file that was added as `added`. */
static bool means(const char *folder, const char *added, const char *path)
{
	struct line_counts *l = line_counts_new();
	line_counts_add(l, folder, added, 3, 5);
	bool found = count_of(l, path, 3) == 5;
	line_counts_free(l);
	return found;
}

static void test_paths(void)
{
	OK(means("", "/s/a.c", "/s/a.c"));
	OK(!means("", "/s/a.c", "/t/a.c"));
	OK(!means("", "/s/a.c", "a.c"));
	OK(means("", "/s/./a.c", "/s//a.c"));
	OK(means("", "/s/t/../a.c", "/s/a.c"));
	OK(means("", "/s/t/u/../../a.c", "/s/a.c"));
	OK(means("", "/s/t/../../a.c", "/a.c"));
	OK(means("", "/../a.c", "/a.c")); /* there is nothing above the root */
	OK(means("", "/s/..a.c", "/s/..a.c") && !means("", "/s/..a.c", "/s/a.c"));
	OK(means("", "/s/.a/b.c", "/s/.a/b.c") && !means("", "/s/.a/b.c", "/s/b.c"));
	OK(means("", "/s/xy/../b.c", "/s/b.c"));
	OK(!means("", "/s/a./b.c", "/b.c") && !means("", "/s/.a/b.c", "/b.c"));
	OK(means("", "/s/t/", "/s/t") && means("", "/s/t/.", "/s/t/"));

	OK(means("/s", "a.c", "/s/a.c"));
	OK(means("/s/build", "../a.c", "/s/a.c"));
	OK(means("/s/build", "x/../../a.c", "/s/a.c"));
	OK(!means("/s", "/a.c", "/s/a.c"));
	/* Built elsewhere: a path that ends with the relative path. */
	OK(means("/s", "lib/a.c", "/elsewhere/lib/a.c"));
	OK(means("/s", "./lib//a.c", "/elsewhere/lib/a.c"));
	OK(!means("/s", "lib/a.c", "/elsewhere/xlib/a.c"));
	OK(!means("/s", "lib/a.c", "/elsewhere/lib/b.c"));
	OK(!means("/s", "lib/a.c", "/elsewhere/a.c"));
	OK(!means("/s", "../a.c", "/elsewhere/a.c"));
	OK(!means("/s", "../../a.c", "/elsewhere/a.c"));
	OK(means("", "a.c", "a.c") && !means("/s", "a.c", "a.c"));
	OK(means("", "../a.c", "../a.c"));
	OK(means("", "../../a.c", "../../a.c") && !means("", "../../a.c", "../a.c"));
	OK(means("", "x/../../a.c", "../a.c"));
	OK(!means("", "..", "a.c"));
}

static void test_sums(void)
{
	struct line_counts *l = line_counts_new();
	line_counts_add(l, "/s", "a.c", 1, 10);
	line_counts_add(l, "", "/s/a.c", 1, 5);
	line_counts_add(l, "/s", "b.c", 1, 7);
	line_counts_add(l, "/s", "a.c", 2, 0);
	line_counts_add(l, "/s", "b.c", 2, UINT64_MAX);
	line_counts_add(l, "/s", "b.c", 2, 1);
	line_counts_add(l, "/t", "a.c", 9, 4);
	OK(count_of(l, "/s/a.c", 1) == 15);
	OK(count_of(l, "/s/a.c", 2) == 0);
	OK(count_of(l, "/s/a.c", 3) == -1);
	OK(count_of(l, "/s/b.c", 1) == 7);
	OK(count_of(l, "/s/b.c", 2) == (long long)UINT64_MAX); /* and no further */
	OK(count_of(l, "/t/a.c", 9) == 4 && count_of(l, "/t/a.c", 1) == -1);
	OK(count_of(l, "/s/c.c", 1) == -1);
	OK(count_of(l, "/u/a.c", 1) == 15); /* two files fit: the first one */
	line_counts_free(l);
	line_counts_free(NULL);
}

/* ---- gcov ---- */

static char message[300];

static struct line_counts *parse(const void *text, size_t n)
{
	struct line_counts *l = line_counts_new();
	struct kin_error *err = gcov_parse("x.gcov.json", text, n, l);
	snprintf(message, sizeof(message), "%s", err ? kin_error_message(err) : "");
	kin_error_free(err);
	return l;
}

static const char whole[] =
	"{\"gcc_version\": \"12.2\", \"files\": [{\"lines\": [{\"branches\": [], \"count\": 3, "
	"\"line_number\": 4, \"unexecuted_block\": false}, {\"line_number\": 5, \"count\": 0}, "
	"{\"line_number\": 6}, {\"count\": 7}, {\"line_number\": 0, \"count\": 7}, "
	"{\"line_number\": 4294967295, \"count\": 7}, {\"line_number\": 4294967300, \"count\": "
	"7}], "
	"\"functions\": [], \"file\": \"a.c\", \"file\": \"b.c\"}, {\"file\": \"/i/h.h\", "
	"\"lines\": "
	"[{\"line_number\": 1, \"count\": 2}]}, {\"lines\": [{\"line_number\": 8, \"count\": 8}]}, "
	"{\"file\": \"none.c\"}], \"current_working_directory\": \"/s\", "
	"\"current_working_directory\": \"/t\", \"data_file\": \"a\"}";

static void expect_whole(const struct line_counts *l)
{
	OK_STR(message, "");
	OK(count_of(l, "/s/a.c", 4) == 3);
	OK(count_of(l, "/s/a.c", 5) == 0);
	OK(count_of(l, "/s/a.c", 6) == -1); /* the line has no count */
	OK(count_of(l, "/s/a.c", 0) == -1 && count_of(l, "/s/a.c", UINT32_MAX) == -1);
	OK(count_of(l, "/i/h.h", 1) == 2 && count_of(l, "/i/h.h", 8) == -1);
	OK(line_counts_file(l, "/s/b.c") == NONE && line_counts_file(l, "/s/none.c") == NONE);
	OK(line_counts_file(l, "/t/a.c") != NONE); /* for it ends so */
}

static void test_gcov(void)
{
	struct line_counts *l = parse(whole, strlen(whole));
	expect_whole(l);
	line_counts_free(l);
	l = parse("{\"files\": []}", 13);
	OK_STR(message, "");
	line_counts_free(l);
	l = parse("{}", 2);
	OK_STR(message, "x.gcov.json: not what gcov --json-format writes");
	line_counts_free(l);
	l = parse("{\"files\": [", 11);
	OK_STR(message, "x.gcov.json: no JSON, or not all of it, at byte 11");
	line_counts_free(l);
	l = parse("        -:    0:Source:x.c\n", 26);
	OK_STR(message, "x.gcov.json: not what gcov --json-format writes");
	line_counts_free(l);
	/* A truncated or changed file gives a message. */
	size_t silent = 0;
	for (size_t n = 0; n < strlen(whole); n++) {
		l = parse(whole, n);
		silent += !message[0];
		line_counts_free(l);
	}
	OK(!silent);
	static const char *const wrong[] = {
		"{\"files\": {}}", "{\"files\": [1]}", "{\"files\": [{\"file\": 1}]}",
		"{\"files\": [{\"file\": \"a\", \"lines\": {}}]}",
		"{\"files\": [{\"file\": \"a\", \"lines\": [{\"line_number\": \"1\"}]}]}"
	};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		l = parse(wrong[i], strlen(wrong[i]));
		OK(strstr(message, "no JSON"));
		line_counts_free(l);
	}
}

static void test_packed(void)
{
	enum { SPACE = 200000 }; /* blanks, so that unpacking takes several steps */
	static char text[SPACE + sizeof(whole)];
	static uint8_t packed[SPACE];
	memset(text, ' ', SPACE);
	memcpy(text + SPACE, whole, sizeof(whole));
	size_t n = gzip_pack(packed, sizeof(packed), text, strlen(text));
	struct line_counts *l = parse(packed, n);
	expect_whole(l);
	line_counts_free(l);
	size_t silent = 0;
	for (size_t cut = 2; cut < n; cut += n / 50 + 1) {
		l = parse(packed, cut);
		silent += strcmp(message, "x.gcov.json: damaged, or too large when unpacked") != 0;
		line_counts_free(l);
	}
	OK(!silent);
	packed[n - 8] ^= 1; /* the checksum */
	l = parse(packed, n);
	OK_STR(message, "x.gcov.json: damaged, or too large when unpacked");
	line_counts_free(l);
}

/* Files too large to be gcov's are not read: a sparse file costs nothing. */
static void test_too_large(void)
{
	char path[] = "/tmp/test_line_counts.XXXXXX";
	struct line_counts *l = line_counts_new();
	int fd = mkstemp(path);
	OK(fd >= 0 && ftruncate(fd, (256 << 20) + 1) == 0);
	struct kin_error *err = gcov_read(path, l);
	OK(err && strstr(kin_error_message(err), ": larger than 268435456 bytes"));
	kin_error_free(err);
	OK(ftruncate(fd, 0) == 0 && pwrite(fd, whole, strlen(whole), 0) == (ssize_t)strlen(whole));
	message[0] = '\0';
	OK(!gcov_read(path, l));
	expect_whole(l);
	OK(ftruncate(fd, (off_t)strlen(whole) - 3) == 0);
	err = gcov_read(path, l);
	OK(err && strstr(kin_error_message(err), ": no JSON, or not all of it"));
	kin_error_free(err);
	close(fd);
	unlink(path);
	OK((err = gcov_read(path, l)) && strstr(kin_error_message(err), "No such file"));
	kin_error_free(err);
	line_counts_free(l);
}

int main(void)
{
	test_paths();
	test_sums();
	test_gcov();
	test_packed();
	test_too_large();
	return DONE();
}
