/* gcov.c - unpacks the JSON, and takes files, lines and counts from it. */
#include "input/gcov.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "formats/packed.h"
#include "input/json_scan.h"

enum { PACKED_MAX = 256 << 20, KEY = 40 };

/* ---- the text ---- */

static void read_line(struct scan *j, struct line_counts *into, const char *folder,
		      const char *path)
{
	char key[KEY];
	uint64_t line = 0, count = 0;
	bool counted = false;

	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key))) {
		if (!strcmp(key, "line_number")) {
			line = scan_number(j);
		} else if (!strcmp(key, "count")) {
			count = scan_number(j);
			counted = true;
		} else {
			scan_skip(j);
		}
	}
	if (!j->failed && counted && path && line && line < UINT32_MAX)
		line_counts_add(into, folder, path, (uint32_t)line, count);
}

/* A file's lines may come before its name. */
static void read_file(struct scan *j, struct line_counts *into, const char *folder)
{
	char key[KEY], *path = NULL;
	struct scan lines = { 0 };

	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key))) {
		if (!strcmp(key, "file") && !path) {
			path = scan_string(j);
		} else {
			if (!strcmp(key, "lines"))
				lines = *j;
			scan_skip(j);
		}
	}
	if (path && lines.pos && !j->failed) {
		scan_enter(&lines, '[');
		while (scan_element(&lines))
			read_line(&lines, into, folder, path);
		j->failed |= lines.failed;
	}
	free(path);
}

static void read_all(struct scan *j, struct line_counts *into, bool *has_files)
{
	char key[KEY], *folder = NULL;
	struct scan files = { 0 };

	scan_enter(j, '{');
	while (scan_key(j, key, sizeof(key))) {
		if (!strcmp(key, "current_working_directory") && !folder) {
			folder = scan_string(j);
		} else {
			if (!strcmp(key, "files"))
				files = *j;
			scan_skip(j);
		}
	}
	*has_files = files.pos;
	if (files.pos && !j->failed) {
		scan_enter(&files, '[');
		while (scan_element(&files))
			read_file(&files, into, folder ? folder : "");
		j->failed |= files.failed;
	}
	free(folder);
}

static struct kin_error *parse_text(const char *name, const char *text, size_t size,
				    struct line_counts *into)
{
	struct scan j = scan_of(text, size);
	bool has_files = false;

	read_all(&j, into, &has_files);
	if (j.failed && size && text[0] == '{')
		return err_new(KIN_ERROR_FORMAT, "%s: no JSON, or not all of it, at byte %zu", name,
			       (size_t)(j.pos - j.start));
	if (j.failed || !has_files) /* gcov's own text, or a .gcda */
		return err_new(KIN_ERROR_FORMAT, "%s: not what gcov --json-format writes", name);
	return NULL;
}

/* ---- files ---- */

struct kin_error *gcov_parse(const char *name, const uint8_t *data, size_t size,
			     struct line_counts *into)
{
	struct bytes all = bytes_of(name, data, size);
	struct unpacked_bytes room;
	struct bytes text = unpacked(all, UNPACKED_MOST, &room);
	struct kin_error *err =
		room.cut
			? err_new(KIN_ERROR_FORMAT, "%s: damaged, or too large when unpacked", name)
			: parse_text(name, (const char *)text.pos, bytes_left(&text), into);
	vec_free(&room.at);
	return err;
}

struct kin_error *gcov_read(const char *path, struct line_counts *into)
{
	struct file f;
	struct kin_error *err = file_read(path, &(struct file_opts){ .max = PACKED_MAX }, &f);
	if (err)
		return err;
	err = gcov_parse(path, f.data, f.size, into);
	file_free(&f);
	return err;
}
