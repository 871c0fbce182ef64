/* api_export.c - kin_export(), and the list of formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/suggest.h"
#include "formats/packed.h"

const struct kin_format *kin_format_at(size_t i)
{
	for (size_t k = 0; k <= i; k++)
		if (!all_formats[k])
			return NULL;
	return &all_formats[i]->about;
}

static const struct kin_format *format_of(struct bytes head, bool is_vague)
{
	const struct input_opts any = { .target.is_64bit = true };
	for (size_t i = 0; all_formats[i]; i++) {
		const struct format *f = all_formats[i];
		if (f->recognise && f->is_vague == is_vague && !f->is_unmarked &&
		    f->recognise(head, &any))
			return &f->about;
	}
	return NULL;
}

static const struct kin_format *find_format(const void *head, size_t size, bool guess)
{
	struct unpacked_bytes room;
	struct bytes b = without_mark(unpacked(bytes_of("", head, size), FORMAT_HEAD, &room));
	if (bytes_left(&b) > FORMAT_HEAD)
		b.end = b.pos + FORMAT_HEAD;
	const struct kin_format *found = format_of(b, false);
	if (!found && guess)
		found = format_of(b, true);
	vec_free(&room.at);
	return found;
}

const struct kin_format *kin_format_of(const void *head, size_t size)
{
	return find_format(head, size, false);
}

const struct kin_format *kin_format_guess(const void *head, size_t size)
{
	return find_format(head, size, true);
}

const struct kin_format *kin_format_of_name(const char *name)
{
	const struct format *f = format_of_name(name);
	return f ? &f->about : NULL;
}

static struct kin_error *unwritten(const char *what, const char *name, const char *hint)
{
	char *list = format_names(true);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE, "%s '%.80s'%s (%s)", what, name, hint, list);
	free(list);
	return err;
}

static struct kin_error *unknown(const char *name)
{
	if (format_find(name))
		return unwritten("kin reads, but does not write, the format", name, "");
	struct suggestion s = suggestion_for(name, strlen(name));
	for (size_t i = 0; all_formats[i]; i++)
		if (all_formats[i]->write)
			suggestion_try(&s, all_formats[i]->about.name);
	char *hint = s.best ? xprintf(": did you mean '%s'?", s.best) : NULL;
	struct kin_error *err = unwritten("unknown format", name, hint ? hint : "");
	free(hint);
	return err;
}

static struct kin_error *unguarded_export(struct kin_profile *p, const char *format,
					  const struct kin_export_opts *opts, FILE *out)
{
	struct kin_export_opts o;
	opts_copy(&o, sizeof(o), opts);
	const struct format *f = format_find(format);
	if (!f || !f->write)
		return unknown(format);
	errno = 0;
	FILE *packed = o.gzip || f->about.is_packed ? gzip_to(out) : NULL;
	struct kin_error *err = f->write(p, &o, packed ? packed : out);
	if (packed && fclose(packed) && !err && !ferror(out))
		err = err_new(KIN_ERROR_OS, "writing %s: packing it failed", f->about.name);
	if (!err && (fflush(out) || ferror(out)))
		err = err_os(errno ? errno : EIO, "writing %s", f->about.name);
	return err;
}

struct kin_error *kin_export(struct kin_profile *p, const char *format,
			     const struct kin_export_opts *opts, FILE *out)
{
	return GUARDED(unguarded_export(p, format, opts, out));
}
