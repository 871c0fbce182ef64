/* remedies.c - counts samples without names by kind of code, and words the advice. */
#include "symbolize/remedies.h"
#include "object/debuginfod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/debug_package.h"

/* This server asks those of all distributions. */
#define SERVER "https://debuginfod.elfutils.org/"

/* Interpreters and other runtimes, by the start of their file name. */
static const struct interpreter {
	const char *name, *remedy;
} interpreters[] = {
	{ "java", "kin record --java lets java write them, or "
		  "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
		  "-XX:+PreserveFramePointer" },
	{ "node", "kin record --node lets node write them, or node --perf-basic-prof" },
	{ "python", "kin record --python lets python3 write them from version 3.12 on, or "
		    "python3 -X perf; kin run reads them in 3.10 and 3.11" },
};
enum { PYTHON = 2 };
static const char any_remedy[] =
	"what made it may be able to write /tmp/perf-PID.map or a jitdump file";

struct remedy_finding {
	const struct program *g;
	const struct profile *p;
	const struct interpreter *interpreter; /* that was run; NULL: none of those above */
	uint64_t all;                          /* samples */
	struct remarks *to;
};

static const char *file_of(const struct remedy_finding *f, objid id)
{
	return base_name(program_object_name(f->g, id));
}

static void say_share(const struct remedy_finding *f, const char *what, uint64_t n,
		      const char *remedy)
{
	remarks_add(f->to, KIN_REMARK_HINT, "%s (%.1f %% of the samples): %s", what,
		    100 * (double)n / (double)f->all, remedy);
}

static bool is_worth_it(const struct remedy_finding *f, uint64_t n)
{
	return n && (double)n >= REMEDY_SHARE * (double)f->all;
}

/* What comes after advice on how to get debug information. */
static const char *servers_of(const struct remedy_finding *f)
{
	const struct debuginfod *servers = program_servers(f->g);
	if (!servers)
		return access("/etc/debuginfod", F_OK) ? ", or set DEBUGINFOD_URLS=" SERVER
						       : ", or --debuginfod";
	return debuginfod_said_no(servers) ? ", as the servers in DEBUGINFOD_URLS do not have them"
					   : "";
}

/* To be freed. */
static char *remedy_for_stripped(const struct remedy_finding *f, objid id)
{
	char *package = program_is_elsewhere(f->g)
				? NULL
				: debug_package_of(program_object_name(f->g, id), NULL);
	const char *servers = servers_of(f);
	char *archive = package ? debug_archive_of(package, NULL) : NULL;
	char *text = package ? xprintf("it was stripped: apt install %s%s%s%s", package,
				       archive ? ", of the archive " : "", archive ? archive : "",
				       servers)
			     : xprintf("it was stripped: keep an unstripped one, or install its "
				       "debug symbols (packages called -dbgsym, -dbg or "
				       "-debuginfo)%s",
				       servers);
	free(archive);
	free(package);
	return text;
}

static void find_stripped(const struct remedy_finding *f)
{
	objid worst = 0;
	uint64_t most = 0;
	for (objid i = 0; i < f->p->n_objects; i++) {
		bool opened = f->p->objects[i].kind == OBJECT_ELF && program_object_file(f->g, i);
		if (!opened || program_unnamed(f->g, i) <= most)
			continue;
		worst = i;
		most = program_unnamed(f->g, i);
	}
	if (!is_worth_it(f, most))
		return;
	char *what = xprintf("functions of %s have no names", program_object_name(f->g, worst));
	char *remedy = remedy_for_stripped(f, worst);
	say_share(f, what, most, remedy);
	free(remedy);
	free(what);
}

/* The samples in each object; to be freed. */
static uint64_t *samples_by_object(const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint64_t *n = xalloc(p->n_objects * sizeof(*n));
	for (size_t i = 0; i < s->n; i++)
		n[s->frames[s->stacks[s->at[i].stack].frame].object] += s->at[i].count;
	return n;
}

/* To be freed. */
static char *remedy_for_missing(const struct remedy_finding *f, objid id, const char *part,
				bool shared)
{
	return shared ? xprintf("%s is missing, to which dwz moved them: it is in a package with "
				"debug symbols (-dbgsym, -dbg or -debuginfo)%s",
				part, servers_of(f))
		      : xprintf("%s is missing, made with -gsplit-dwarf: keep it where it was "
				"compiled, or put %s.dwp, which dwp makes, beside the program",
				part, file_of(f, id));
}

/* Functions that were inlined are in debug information alone. */
static void find_missing_parts(const struct remedy_finding *f)
{
	uint64_t *n = NULL, most = 0; /* n: counted if a part is missing at all */
	const char *missing = NULL;
	bool shared = false;
	objid worst = 0;
	for (objid i = 0; i < f->p->n_objects; i++) {
		const struct object_file *o = program_object_file(f->g, i);
		bool is_shared;
		const char *part = o ? object_missing_part(o, &is_shared) : NULL;
		if (!part)
			continue;
		n = n ? n : samples_by_object(f->p);
		if (n[i] <= most)
			continue;
		worst = i;
		most = n[i];
		missing = part;
		shared = is_shared;
	}
	free(n);
	if (!is_worth_it(f, most))
		return;
	char *what =
		xprintf("inlined functions of %s have no names", program_object_name(f->g, worst));
	char *remedy = remedy_for_missing(f, worst, missing, shared);
	say_share(f, what, most, remedy);
	free(remedy);
	free(what);
}

/* NULL: none of those that are known was run. */
static const struct interpreter *find_interpreter(const struct remedy_finding *f)
{
	for (size_t k = 0; k < ARRAY_LEN(interpreters); k++)
		for (objid i = 0; i < f->p->n_objects; i++)
			if (f->p->objects[i].is_main &&
			    !strncmp(file_of(f, i), interpreters[k].name,
				     strlen(interpreters[k].name)))
				return &interpreters[k];
	return NULL;
}

static bool is_made(const struct remedy_finding *f, objid id)
{
	return id &&
	       (f->p->objects[id].kind == OBJECT_JIT || f->p->objects[id].kind == OBJECT_OTHER);
}

/* Samples with nameless code made at run time anywhere on their stack. */
static uint64_t samples_through_made_code(const struct remedy_finding *f)
{
	const struct samples *s = &f->p->samples;
	uint64_t n = 0;
	uint8_t *through = xalloc(s->n_stacks);
	for (stackid i = 1; i < s->n_stacks; i++)
		through[i] = through[s->stacks[i].caller] ||
			     (is_made(f, s->frames[s->stacks[i].frame].object) &&
			      program_is_unnamed(f->g, s->stacks[i].frame));
	for (size_t i = 0; i < s->n; i++)
		if (through[s->at[i].stack])
			n += s->at[i].count;
	free(through);
	return n;
}

static bool find_made_code(const struct remedy_finding *f)
{
	uint64_t n = 0;
	for (objid i = 1; i < f->p->n_objects; i++)
		if (is_made(f, i))
			n += program_unnamed(f->g, i);
	if (!is_worth_it(f, n))
		return false;
	say_share(f, "code made at run time has no names", n,
		  f->interpreter ? f->interpreter->remedy : any_remedy);
	return true;
}

/* Functions of Node.js and Java may spend their time in what they call: code of the runtime. */
static void find_made_callers(const struct remedy_finding *f)
{
	bool is_asked = f->interpreter && f->interpreter != &interpreters[PYTHON];
	uint64_t n = is_asked ? samples_through_made_code(f) : 0;
	if (is_worth_it(f, n))
		say_share(f, "callers made at run time have no names", n, f->interpreter->remedy);
}

/* Code of an interpreter that stands for all functions that it runs. */
static const struct interpreted {
	const char *interpreter, *code, *what, *remedy;
} interpreted[] = {
	{ "java", "Interpreter", "functions that Java interprets are all called Interpreter",
	  "it compiles, and names, those that run for longer; java -Xcomp compiles all of them" },
	{ "node", "Builtins_InterpreterEntryTrampoline",
	  "functions that Node.js interprets have no names",
	  "kin record --node lets node write them, or node --perf-basic-prof "
	  "--interpreted-frames-native-stack" },
};

/* Samples with that code anywhere on their stack. */
static uint64_t samples_through(const struct remedy_finding *f, const char *code)
{
	const struct samples *s = &f->p->samples;
	struct symbols *symbols = program_symbols(UNCONST(struct program *, f->g));
	uint64_t n = 0;
	bool *is_it = xalloc(s->n_frames + 1), *through = xalloc(s->n_stacks + 1);
	for (frameid i = 1; i < s->n_frames; i++)
		is_it[i] = !strcmp(symbols->at[program_place(f->g, i)].name, code);
	for (stackid i = 1; i < s->n_stacks; i++)
		through[i] = through[s->stacks[i].caller] || is_it[s->stacks[i].frame];
	for (size_t i = 0; i < s->n; i++)
		if (through[s->at[i].stack])
			n += s->at[i].count;
	free(is_it);
	free(through);
	return n;
}

static bool find_interpreted(const struct remedy_finding *f)
{
	for (size_t k = 0; k < ARRAY_LEN(interpreted) && f->interpreter; k++) {
		const struct interpreted *x = &interpreted[k];
		uint64_t n = strcmp(f->interpreter->name, x->interpreter) != 0
				     ? 0
				     : samples_through(f, x->code);
		if (!is_worth_it(f, n))
			continue;
		say_share(f, x->what, n, x->remedy);
		return true;
	}
	return false;
}

static bool has_python_names(const struct profile *p)
{
	for (size_t i = 1; i < p->samples.n_frames; i++)
		if (!strncmp(strtab_get(p->strings, p->samples.frames[i].name), "py::", 4))
			return true;
	return false;
}

static uint64_t samples_in_python(const struct remedy_finding *f)
{
	const struct samples *s = &f->p->samples;
	uint64_t n = 0;
	uint8_t *is_python = xalloc(f->p->n_objects);
	for (objid i = 0; i < f->p->n_objects; i++)
		is_python[i] = !strncmp(file_of(f, i), "python", 6) ||
			       !strncmp(file_of(f, i), "libpython", 9);
	for (size_t i = 0; i < s->n; i++)
		if (is_python[s->frames[s->stacks[s->at[i].stack].frame].object])
			n += s->at[i].count;
	free(is_python);
	return n;
}

static void find_python(const struct remedy_finding *f)
{
	uint64_t n = f->interpreter == &interpreters[PYTHON] && !has_python_names(f->p)
			     ? samples_in_python(f)
			     : 0;
	if (is_worth_it(f, n))
		say_share(f, "functions of Python are not seen, only its interpreter", n,
			  interpreters[PYTHON].remedy);
}

void remedies_find(const struct program *g, const struct profile *p, struct remarks *to)
{
	struct remedy_finding f = { .g = g, .p = p, .to = to };
	for (size_t i = 0; i < p->samples.n; i++)
		f.all += p->samples.at[i].count;
	f.interpreter = find_interpreter(&f);
	find_stripped(&f);
	find_missing_parts(&f);
	if (!find_made_code(&f)) {
		if (!find_interpreted(&f))
			find_made_callers(&f);
		find_python(&f);
	}
}
