/* debug_package.c - looks for a path in dpkg's lists of files. */
#include "symbolize/debug_package.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/file.h"

enum { LIKE = 4, LIST_MAX = 16 << 20 };

/* Whether a list has the path. Where /lib is a link to /usr/lib a file has two names, of which a
 * list has either. */
static bool has_file(const char *list, const char *path)
{
	static const char usr[] = "/usr";
	if (!strncmp(path, usr, 4) && path[4] == '/')
		path += 4;
	size_t n = strlen(path);
	for (const char *p = list; (p = strstr(p, path)); p += n) {
		const char *line = p - list >= 4 && !memcmp(p - 4, usr, 4) ? p - 4 : p;
		if ((line == list || line[-1] == '\n') && (p[n] == '\n' || !p[n]))
			return true;
	}
	return false;
}

static bool list_has(const char *folder, const char *name, const char *path)
{
	struct file f;
	char *whole = xprintf("%s/%s", folder, name);
	struct kin_error *err = file_read(whole, &(struct file_opts){ .max = LIST_MAX }, &f);
	bool has = !err && has_file((const char *)f.data, path);
	free(whole);
	if (!err)
		file_free(&f);
	kin_error_free(err);
	return has;
}

/* "libllvm14" of "libllvm14:amd64.list"; n 0: it is no list. */
static size_t package_size(const char *name)
{
	size_t n = strlen(name), colon = strcspn(name, ":");
	if (n <= 5 || strcmp(name + n - 5, ".list") != 0)
		return 0;
	return colon < n ? colon : n - 5;
}

/* "libLLVM-14.so.1" may well be in "libllvm14", "clang" in "clang-14". */
static bool is_like(const char *package, const char *base)
{
	size_t n = !strncmp(base, "lib", 3) ? 3 + LIKE : LIKE;
	return !strncasecmp(package, base, n);
}

/* The package that is called like the file, if it has the path: this spares reading the folder. To
 * be freed; NULL: there is no such package, or it lacks the path. */
static char *find_of_same_name(const char *folder, const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	char *name = xprintf("%s.list", base);
	char *found = *base && list_has(folder, name, path) ? xprintf("%s", base) : NULL;
	free(name);
	return found;
}

/* The package whose list has the path: among packages called like the file if `alike`, else among
 * the others. To be freed; NULL: none. */
static char *find(const char *folder, const char *path, bool alike)
{
	const char *slash = strrchr(path, '/');
	DIR *d = opendir(folder);
	char *found = NULL;
	for (const struct dirent *e; d && !found && (e = readdir(d));) {
		size_t n = package_size(e->d_name);
		if (n && is_like(e->d_name, slash + 1) == alike &&
		    list_has(folder, e->d_name, path))
			found = xprintf("%.*s", (int)n, e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

char *debug_package_of(const char *path, const char *folder)
{
	if (*path != '/')
		return NULL;
	if (!folder)
		folder = "/var/lib/dpkg/info";
	char *package = find_of_same_name(folder, path);
	if (!package)
		package = find(folder, path, true);
	if (!package)
		package = find(folder, path, false);
	if (!package)
		return NULL;
	/* The C library's debug symbols are in a package that is older than automatic ones. */
	char *ret = xprintf("%s-%s", package, !strcmp(package, "libc6") ? "dbg" : "dbgsym");
	free(package);
	return ret;
}

/* ---- archives ---- */

static const struct debug_archive {
	const char *id, *line; /* with a place for the release's code name */
} archives[] = {
	{ "debian", "'deb http://deb.debian.org/debian-debug %s-debug main'" },
	{ "ubuntu", "'deb http://ddebs.ubuntu.com %s main universe'" },
};

/* The value of a line like ID=debian or ID="debian" as a word, to be freed; NULL: there is none. */
static char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, n) != 0 || at[n] != '=')
			continue;
		at += n + 1;
		at += *at == '"';
		n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789.-");
		return n ? xprintf("%.*s", (int)n, at) : NULL;
	}
	return NULL;
}

static char *archive_in(const char *text)
{
	char *id = value_of(text, "ID"), *name = value_of(text, "VERSION_CODENAME"), *ret = NULL;
	for (size_t i = 0; id && name && !ret && i < ARRAY_LEN(archives); i++) {
		const char *line = archives[i].line, *place = strstr(line, "%s");
		if (!strcmp(id, archives[i].id))
			ret = xprintf("%.*s%s%s", (int)(place - line), line, name, place + 2);
	}
	free(id);
	free(name);
	return ret;
}

char *debug_archive_of(const char *package, const char *release)
{
	size_t n = strlen(package), tail = strlen("-dbgsym");
	struct file f;
	if (n < tail || strcmp(package + n - tail, "-dbgsym") != 0)
		return NULL;
	struct kin_error *err =
		file_read(release ? release : "/etc/os-release", &(struct file_opts){ 0 }, &f);
	if (err) {
		kin_error_free(err);
		return NULL;
	}
	char *text = xprintf("%.*s", (int)f.size, (const char *)f.data);
	char *ret = archive_in(text);
	free(text);
	file_free(&f);
	return ret;
}
