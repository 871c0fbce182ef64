/* preload.c - sets the environment, and says why a program will not load the runtime. */
#include "record/preload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/wordlist.h"
#include "kin/format.h"
#include "machine/machine.h"
#include "object/elf_image.h"

/* ---- the library ---- */

char *preload_find(void)
{
	static const char *const places[] = { KINRT,
					      "runtime/" KINRT,
					      "../lib/" KINRT,
					      "../lib/kin/" KINRT,
					      "../" KIN_LIBDIR "/" KINRT,
					      NULL };
	return file_near_program(places);
}

/* ---- the environment ---- */

/* A path as a setting's value. It is made absolute, since programs may change their folder. %% and
 * %c are escapes of the runtime. */
static char *output_setting(const char *path, bool literal)
{
	char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	size_t size = 2 * ((cwd ? strlen(cwd) : 0) + strlen(path)) + 2, n = 0;
	char *to = xalloc(size);
	for (const char *s = cwd ? cwd : ""; *s; s++)
		n += (size_t)snprintf(to + n, size - n,
				      *s == '%'   ? "%%%%"
				      : *s == ',' ? "%%c"
						  : "%c",
				      *s);
	if (cwd)
		to[n++] = '/';
	for (const char *s = path; *s; s++) {
		if (*s == ',' || (*s == '%' && literal))
			n += (size_t)snprintf(to + n, size - n, *s == ',' ? "%%c" : "%%%%");
		else
			to[n++] = *s; /* %p and the like are the user's */
	}
	to[n] = '\0';
	free(cwd);
	return to;
}

static bool is_output(struct word w)
{
	static const char name[] = "output=";
	return w.n >= strlen(name) && !memcmp(w.s, name, strlen(name));
}

/* The user's settings except for the file name, which is set here. */
static char *others_settings(void)
{
	const char *all = getenv("KIN_OPTIONS");
	char *kept = xalloc((all ? strlen(all) : 0) + 2), *to = kept;
	struct word w;
	while (words_next(&all, ",", &w)) {
		if (is_output(w))
			continue;
		*to++ = ',';
		memcpy(to, w.s, w.n);
		to += w.n;
	}
	*to = '\0';
	return kept;
}

/* Inside another kin run, KIN_OPTIONS holds its settings rather than the user's. */
const char *preload_other_output(void)
{
	const char *all = getenv("KIN_OPTIONS"), *library = getenv("LD_PRELOAD"), *found = NULL;
	struct word w;
	if (library && strstr(library, KINRT))
		return NULL;
	while (words_next(&all, ",", &w))
		found = is_output(w) ? w.s : found;
	return found;
}

static char *settings_text(const struct preload_opts *o)
{
	char *own = others_settings();
	char *output = output_setting(o->output, o->literal), sample[32] = "off";
	if (o->frequency)
		snprintf(sample, sizeof(sample), "%u", o->frequency);
	char *text = xprintf("%s%s%soutput=%s,quiet%s,sample=%s,stacks=%s%s%s%s%s%s",
			     o->run ? "run=" : "", o->run ? o->run : "", o->run ? "," : "", output,
			     o->no_rank ? ",rank=off" : "", sample, o->leaves ? "off" : "on",
			     o->no_arcs ? ",arcs=off" : "", o->no_gmon ? ",gmon=off" : "",
			     o->latency ? ",latency=on" : "", o->verbose ? ",verbose" : "", own);
	free(own);
	free(output);
	return text;
}

/* preload_set() put only our `run` setting before the repetition's place. */
void preload_set_repetition(unsigned n)
{
	const char *all = getenv("KIN_OPTIONS");
	const char *comma = all && !strncmp(all, "run=", 4) ? strchr(all, ',') : NULL;
	if (!comma)
		return;
	const char *rest = comma;
	if (!strncmp(rest, KINF_REPETITION, strlen(KINF_REPETITION)))
		rest += 1 + strcspn(rest + 1, ",");
	char *settings = xprintf("%.*s" KINF_REPETITION "%u%s", (int)(comma - all), all, n, rest);
	setenv("KIN_OPTIONS", settings, 1);
	free(settings);
}

struct kin_error *preload_set(const struct preload_opts *o)
{
	char *library = preload_find();
	if (!library)
		return err_new(KIN_ERROR_USAGE, KINRT " is not installed beside this program");
	if (strpbrk(library, " :")) {
		struct kin_error *err = err_new(
			KIN_ERROR_USAGE,
			"%s: a library whose path has a space or a colon cannot be preloaded",
			library);
		free(library);
		return err;
	}
	const char *before = getenv("LD_PRELOAD");
	char *all = xprintf("%s%s%s", library, before && *before ? ":" : "", before ? before : "");
	char *settings = settings_text(o);
	setenv("LD_PRELOAD", all, 1);
	setenv("KIN_OPTIONS", settings, 1);
	/* gcc's sanitizer ends the program unless it is the first library. Ours may precede it: it
	 * replaces none of its functions. */
	const char *asan = getenv("ASAN_OPTIONS");
	char *more =
		xprintf("verify_asan_link_order=0%s%s", asan && *asan ? ":" : "", asan ? asan : "");
	setenv("ASAN_OPTIONS", more, 1);
	free(more);
	free(settings);
	free(all);
	free(library);
	return NULL;
}

/* ---- compiler flags ---- */

const char *preload_flag_for_hooks(void)
{
	const struct machine *m = machine_native();
	return m ? m->flag_for_hooks : NULL;
}

const char *preload_flag_for_stacks(void)
{
	const struct machine *m = machine_native();
	return m ? m->flag_for_stacks : NULL;
}

/* ---- programs that do not load the library ---- */

static char *in_path(const char *program)
{
	if (strchr(program, '/'))
		return xprintf("%s", program);
	const char *dirs = getenv("PATH");
	for (const char *d = dirs ? dirs : ""; *d;) {
		size_t n = strcspn(d, ":");
		char *path = xprintf("%.*s/%s", (int)n, d, program);
		if (!access(path, X_OK))
			return path;
		free(path);
		d += n + (d[n] == ':');
	}
	return NULL;
}

/* Whether the dynamic linker starts it. */
static bool is_dynamic(const struct elf_image *im)
{
	Elf64_Phdr *p = elf_image_segments(im);
	bool found = !p; /* not known: assume that it is */
	for (size_t i = 0; p && i < im->n_segments; i++)
		found |= p[i].p_type == PT_INTERP;
	free(p);
	return found;
}

/* Whether the runtime is linked in: then the program contains the name of its variable. */
static bool has_runtime(int fd, const struct stat *st)
{
	static const char name[] = "KIN_OPTIONS";
	if (st->st_size <= 0)
		return false;
	void *p = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	bool found = memmem(p, (size_t)st->st_size, name, sizeof(name) - 1);
	munmap(p, (size_t)st->st_size);
	return found;
}

static const char *obstacle_of(int fd, const struct stat *st, const char **remedy)
{
	static const char recorder[] = "use kin record";
	struct elf_image im = { .fd = fd, .size = (uint64_t)st->st_size };
	if (elf_image_open(&im))
		return NULL; /* most likely a script: its interpreter loads the library */
	if (!im.is_64bit) {
		*remedy = recorder;
		return "is a 32-bit program, and the library has 64 bits";
	}
	if (!is_dynamic(&im) && !has_runtime(fd, st)) {
		*remedy = recorder;
		return "is linked statically: link it with -lkinrt (kin cc does)";
	}
	if ((st->st_mode & S_ISUID && st->st_uid != geteuid()) ||
	    (st->st_mode & S_ISGID && st->st_gid != getegid()))
		return "runs with other rights than yours, so that the system preloads nothing";
	return NULL;
}

const char *preload_obstacle(const char *program, const char **remedy)
{
	struct stat st;
	const char *what = NULL;
	char *path = in_path(program);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		what = obstacle_of(fd, &st, remedy);
	if (fd >= 0)
		close(fd);
	free(path);
	return what;
}
