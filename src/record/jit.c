/* jit.c - reads perf-PID.map files and jitdumps as they grow. */
#include "record/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map64.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "input/jitdump.h"
#include "machine/machine.h"
#include "unwind/made_frames.h"

enum {
	FILE_MAX = 512 << 20,
	CHUNK = 256 << 10,
	NAME_MAX_SIZE = 4096,
	OVERLAPS = 32, /* pieces that start before an address and may reach over it */
};

struct jit_code {
	uint64_t addr, size, time_ns; /* time it was made; 0: not known */
	strid name;
	uint32_t order;  /* pieces recorded later have higher numbers */
	uint32_t frames; /* index + 1 in process.frames; 0: no unwind information */
};

struct jit_source { /* a file that grows */
	char *path;
	int folder; /* that a relative path starts from; -1: none */
	int fd;     /* -1: not open yet */
	uint64_t at;
	bool header_read, bad, swap;
};

struct process {
	pid_t pid;
	uid_t owner;
	uint64_t since_ns; /* CLOCK_REALTIME: files written before belong to another process */
	struct jit_source map, dump;
	VEC(struct jit_code) code; /* by address, then order; once sorted */
	bool sorted;
	VEC(struct made_frames) frames;
	uint64_t frames_size;
	uint32_t pending;      /* index + 1 of the frames for the next piece of code; 0: none */
	struct strtab *names;  /* NULL: none */
	uint64_t ended_ns;     /* UINT64_MAX: not yet */
	struct process *older; /* an ended process with the same id; NULL: none */
};

struct jit {
	VEC(struct process *) at;
	struct map64 by_pid; /* -> index of the newest */
	size_t n_ended;
	char *buffer; /* CHUNK */
};

struct jit *jit_new(void) { return xalloc(sizeof(struct jit)); }

static void source_close(struct jit_source *s)
{
	free(s->path);
	if (s->folder >= 0)
		close(s->folder);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct jit_source){ .folder = -1, .fd = -1, .bad = true };
}

static void process_free(struct process *p)
{
	source_close(&p->map);
	source_close(&p->dump);
	vec_free(&p->code);
	for (size_t i = 0; i < p->frames.n; i++)
		free(p->frames.at[i].at);
	vec_free(&p->frames);
	strtab_free(p->names);
	free(p);
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->at.n; i++)
		process_free(j->at.at[i]);
	vec_free(&j->at);
	map64_free(&j->by_pid);
	free(j->buffer);
	free(j);
}

/* ---- files ---- */

/* The process's id in its own namespace, which is the last one on the line. */
static pid_t inner_pid(pid_t pid)
{
	char path[64], line[256];
	pid_t inner = pid;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (char *p = line + 6, *end;; p = end) {
			long v = strtol(p, &end, 10);
			if (end == p)
				break;
			inner = (pid_t)v;
		}
		break;
	}
	if (f)
		fclose(f);
	return inner;
}

static uid_t owner_of(pid_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? geteuid() : st.st_uid;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return clock_ns_of(t);
}

/* When the process began, by CLOCK_REALTIME; 0: not known, as it is gone. */
static uint64_t start_of(pid_t pid)
{
	enum { BEFORE = 19 }; /* fields between the name, which ends in ")", and the start */
	char path[64], line[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	char *at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (f)
		fclose(f);
	for (int i = 0; at && i <= BEFORE; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return 0;
	uint64_t ticks = strtoull(at, NULL, 10), hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t age_ns = now_ns(CLOCK_BOOTTIME) - ticks * (UINT64_C(1000000000) / hz);
	return now_ns(CLOCK_REALTIME) - age_ns;
}

/* Times of processes and of file systems go by ticks. */
static uint64_t files_since(uint64_t start_ns)
{
	enum { COARSE_NS = 30000000 };
	return start_ns > COARSE_NS ? start_ns - COARSE_NS : 0;
}

static bool is_older(const struct stat *st, const struct process *p)
{
	return clock_ns_of(st->st_mtim) < p->since_ns;
}

static bool may_be_of(const struct stat *st, const struct process *p)
{
	return S_ISREG(st->st_mode) && (st->st_uid == p->owner || !st->st_uid);
}

/* A regular file of the process's owner, or of root: in /tmp anybody may put files. One from before
 * the process began is that of another process with the same id, until it is written again. */
static bool source_open(struct jit_source *s, const struct process *p)
{
	struct stat st;
	if (s->fd >= 0)
		return true;
	if (s->bad || !s->path || (s->folder < 0 && s->path[0] != '/'))
		return false;
	s->fd = openat(s->folder, s->path,
		       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (s->fd < 0)
		return false;
	s->bad = fstat(s->fd, &st) || !may_be_of(&st, p);
	if (!s->bad && !is_older(&st, p))
		return true;
	close(s->fd);
	s->fd = -1;
	return false;
}

/* The folder is kept open, since the file may be written at the very end. If the process is gone,
 * its /tmp most likely was ours. */
static int open_folder(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int)pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static struct process *newest(const struct jit *j, pid_t pid)
{
	uint32_t index = map64_get(&j->by_pid, (uint32_t)pid);
	return index == NONE ? NULL : j->at.at[index];
}

/* The process that had the id at that time; NULL: not known. */
static struct process *find_process(const struct jit *j, pid_t pid, uint64_t time_ns)
{
	struct process *p = newest(j, pid);
	if (!p || p->ended_ns < time_ns)
		return NULL;
	while (p->older && p->older->ended_ns >= time_ns)
		p = p->older;
	return p;
}

static struct process *add_process(struct jit *j, pid_t pid)
{
	struct process *p = xalloc(sizeof(*p));
	p->older = newest(j, pid);
	p->ended_ns = UINT64_MAX;
	p->pid = pid;
	p->owner = owner_of(pid);
	p->since_ns = files_since(start_of(pid));
	p->map.fd = p->dump.fd = p->dump.folder = -1;
	p->map.folder = open_folder(pid);
	p->map.path = xprintf("perf-%d.map", (int)inner_pid(pid));
	*map64_at(&j->by_pid, (uint32_t)pid) = (uint32_t)j->at.n;
	vec_push(&j->at, p);
	return p;
}

void jit_add_ended(struct jit *j, pid_t pid, uint64_t start_time_ns)
{
	add_process(j, pid)->since_ns = files_since(start_time_ns);
}

void jit_add_dump(struct jit *j, pid_t pid, const char *path, uint64_t time_ns)
{
	struct process *p = find_process(j, pid, time_ns);
	if (!p)
		p = add_process(j, pid);
	if (p->dump.path || p->dump.bad)
		return;
	p->dump.path = xprintf("/proc/%d/root%s", (int)pid, path);
	if (source_open(&p->dump, p))
		return;
	free(p->dump.path);
	p->dump.path = xprintf("%s", path);
	source_open(&p->dump, p);
}

static void add_code(struct process *p, struct jit_code c, const char *name, size_t n)
{
	if (!c.size || !n || c.addr + c.size < c.addr)
		return;
	if (!p->names)
		p->names = strtab_new();
	c.name = strtab_addn(p->names, name, strnlen(name, n < NAME_MAX_SIZE ? n : NAME_MAX_SIZE));
	c.order = (uint32_t)p->code.n;
	vec_push(&p->code, c);
	p->sorted = false;
}

/* ---- perf-PID.map ---- */

static void read_map_line(struct process *p, char *line, size_t n)
{
	char *at, *name;
	struct jit_code c = { 0 };
	line[n] = '\0';
	c.addr = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return;
	c.size = strtoull(at, &name, 16);
	if (name == at || *name != ' ')
		return;
	add_code(p, c, name + 1, n - (size_t)(name + 1 - line));
}

/* Reads whole lines. An unfinished line is read again later. */
static void read_map(struct jit *j, struct process *p)
{
	struct jit_source *s = &p->map;
	ssize_t n;
	if (!source_open(s, p))
		return;
	while (s->at < FILE_MAX && (n = pread(s->fd, j->buffer, CHUNK - 1, (off_t)s->at)) > 0) {
		char *line = j->buffer, *limit = j->buffer + n, *end;
		while ((end = memchr(line, '\n', (size_t)(limit - line)))) {
			read_map_line(p, line, (size_t)(end - line));
			line = end + 1;
		}
		if (line == j->buffer && n == CHUNK - 1)
			line = limit; /* not a text file */
		if (line == j->buffer)
			return;
		s->at += (uint64_t)(line - j->buffer);
	}
}

/* ---- jitdumps ---- */

static bool read_dump_header(struct jit_source *s)
{
	uint8_t head[JITDUMP_HEADER];
	if (s->header_read)
		return true;
	if (pread(s->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return false;
	struct bytes b = bytes_of(s->path, head, sizeof(head));
	s->at = jitdump_header(&b);
	s->bad = !s->at;
	s->swap = b.swap;
	s->header_read = true;
	return s->at;
}

static void take_load(struct process *p, const struct jitdump_record *r)
{
	struct jit_code c = {
		.addr = r->addr, .size = r->code_size, .time_ns = r->time_ns, .frames = p->pending
	};
	p->pending = 0;
	add_code(p, c, r->name, r->name_size);
}

static void take_move(struct process *p, const struct jitdump_record *r)
{
	for (size_t i = p->code.n; i; i--) {
		struct jit_code c = p->code.at[i - 1];
		if (c.addr != r->from)
			continue;
		const char *name = strtab_get(p->names, c.name);
		c.addr = r->addr;
		c.time_ns = r->time_ns;
		add_code(p, c, name, strlen(name));
		return;
	}
}

static void take_frames(struct process *p, const struct jitdump_record *r)
{
	struct made_frames f = { .size = r->frames_size, .hdr_size = r->frames_hdr_size };
	p->pending = 0;
	if (f.size > MADE_FRAMES_MAX || p->frames_size + f.size > MADE_FRAMES_ALL_MAX)
		return;
	f.at = xalloc(f.size);
	if (pread(p->dump.fd, f.at, f.size, (off_t)(p->dump.at + JITDUMP_BEFORE_FRAMES)) !=
	    (ssize_t)f.size) {
		free(f.at);
		return;
	}
	p->frames_size += f.size;
	vec_push(&p->frames, f);
	p->pending = (uint32_t)p->frames.n;
}

/* Reads whole records. An incomplete record is read again later. */
static void read_dump(struct process *p)
{
	struct jit_source *s = &p->dump;
	uint8_t head[JITDUMP_BEFORE_NAME + NAME_MAX_SIZE];
	struct jitdump_record r;
	struct stat st;
	ssize_t n;
	if (!source_open(s, p) || s->bad || !read_dump_header(s) || fstat(s->fd, &st))
		return;
	while (s->at < FILE_MAX && (n = pread(s->fd, head, sizeof(head), (off_t)s->at)) > 0) {
		struct bytes b = bytes_of(s->path, head, (size_t)n);
		b.swap = s->swap;
		if (!jitdump_next(b, &r) || s->at + r.size > (uint64_t)st.st_size)
			return;
		if (r.kind == JITDUMP_LOAD)
			take_load(p, &r);
		else if (r.kind == JITDUMP_MOVE)
			take_move(p, &r);
		else if (r.kind == JITDUMP_FRAMES)
			take_frames(p, &r);
		s->at += r.size;
	}
}

/* ---- queries ---- */

static void update(struct jit *j, struct process *p)
{
	if (!j->buffer)
		j->buffer = xalloc(CHUNK);
	read_map(j, p);
	read_dump(p);
}

void jit_update(struct jit *j)
{
	for (size_t i = 0; i < j->at.n; i++)
		if (j->at.at[i]->ended_ns == UINT64_MAX)
			update(j, j->at.at[i]);
}

/* ---- processes that end ---- */

void jit_end(struct jit *j, pid_t pid, uint64_t time_ns)
{
	struct process *p = newest(j, pid);
	if (!p || p->ended_ns != UINT64_MAX)
		return;
	update(j, p);
	source_close(&p->map);
	source_close(&p->dump);
	p->ended_ns = time_ns;
	j->n_ended++;
}

bool jit_has_ended(const struct jit *j, pid_t pid, uint64_t time_ns)
{
	const struct process *p = find_process(j, pid, time_ns);
	return p && p->ended_ns != UINT64_MAX;
}

size_t jit_n_ended(const struct jit *j) { return j->n_ended; }

/* Unlinks a process. Older processes with the same id ended before it, and are removed with it. */
static void take_out(struct jit *j, const struct process *p)
{
	struct process *later = newest(j, p->pid);
	if (later == p) {
		map64_remove(&j->by_pid, (uint32_t)p->pid);
		return;
	}
	while (later && later->older != p)
		later = later->older;
	if (later)
		later->older = NULL;
}

void jit_forget(struct jit *j, uint64_t before_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < j->at.n; i++) /* unlink all of them before any is freed */
		if (j->at.at[i]->ended_ns < before_ns)
			take_out(j, j->at.at[i]);
	for (size_t i = 0; i < j->at.n; i++) {
		struct process *p = j->at.at[i];
		if (p->ended_ns < before_ns) {
			process_free(p);
			j->n_ended--;
			continue;
		}
		if (newest(j, p->pid) == p)
			*map64_at(&j->by_pid, (uint32_t)p->pid) = (uint32_t)kept;
		j->at.at[kept++] = p;
	}
	j->at.n = kept;
}

static int by_address(const void *a, const void *b)
{
	const struct jit_code *c = a, *d = b;
	if (c->addr != d->addr)
		return c->addr < d->addr ? -1 : 1;
	return c->order < d->order ? -1 : c->order > d->order;
}

/* Whether c is the better of two pieces that contain an address: the one made last before that
 * time, or recorded last. */
static bool better(const struct jit_code *c, const struct jit_code *best, uint64_t time_ns)
{
	if (!best)
		return true;
	bool c_late = c->time_ns > time_ns, best_late = best->time_ns > time_ns;
	if (c_late != best_late)
		return best_late;
	if (c->time_ns != best->time_ns)
		return c_late ? c->time_ns < best->time_ns : c->time_ns > best->time_ns;
	return c->order > best->order;
}

static const struct jit_code *find_code(struct process *p, uint64_t addr, uint64_t time_ns)
{
	if (!p->sorted && p->code.n)
		qsort(p->code.at, p->code.n, sizeof(*p->code.at), by_address);
	p->sorted = true;
	size_t low = COUNT_WHILE(p->code.n, i, p->code.at[i].addr <= addr);
	const struct jit_code *best = NULL;
	for (size_t i = low; i && low - i < OVERLAPS; i--) {
		const struct jit_code *c = &p->code.at[i - 1];
		if (addr - c->addr < c->size && better(c, best, time_ns))
			best = c;
	}
	return best;
}

const char *jit_find(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns)
{
	struct process *p = find_process(j, pid, time_ns);
	if (!p) {
		p = add_process(j, pid);
		update(j, p);
	}
	const struct jit_code *code = find_code(p, addr, time_ns);
	return code ? strtab_get(p->names, code->name) : NULL;
}

bool jit_row(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns, struct unwind_row *ret)
{
	struct process *p = find_process(j, pid, time_ns);
	if (!p || !p->dump.path)
		return false;
	const struct jit_code *code = find_code(p, addr, time_ns);
	if (!code && p->ended_ns == UINT64_MAX) {
		update(j, p);
		code = find_code(p, addr, time_ns);
	}
	return code && code->frames &&
	       made_frames_row(machine_native(), &p->frames.at[code->frames - 1], code->addr,
			       code->size, addr, ret);
}
