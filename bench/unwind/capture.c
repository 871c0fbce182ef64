#include "capture.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CPUS = 64 };

/* rax .. rip in perf's order, flags and segments left out; r8 .. r15 */
static const uint64_t WANTED = UINT64_C(0xff01ff);
static const uint8_t dwarf_number[17] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t size; /* of the data */
};

struct session {
	struct ring rings[MAX_CPUS];
	int n;
	pid_t pid;
	size_t max;
	struct capture *to;
};

static int open_event(pid_t pid, int cpu, unsigned hz, uint32_t stack)
{
	struct perf_event_attr a = { .size = sizeof(a) };
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_CPU_CLOCK;
	a.freq = 1;
	a.sample_freq = hz;
	a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a.sample_regs_user = WANTED;
	a.sample_stack_user = stack;
	a.disabled = a.enable_on_exec = a.inherit = a.exclude_kernel = 1;
	a.mmap = a.mmap2 = 1;
	a.watermark = 1;
	a.wakeup_watermark = 64 << 10;
	return (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool map_ring(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (r->size = 4 << 20; r->size >= 128 << 10; r->size /= 2) {
		void *p = mmap(NULL, r->size + page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		if (p != MAP_FAILED) {
			r->page = p;
			return true;
		}
	}
	return false;
}

/* ---- records ---- */

static void add_mapping(struct capture *c, const uint8_t *p)
{
	uint32_t prot;
	memcpy(&prot, p + 8 + 48, 4);
	if (!(prot & PROT_EXEC))
		return;
	c->maps = realloc(c->maps, (c->n_maps + 1) * sizeof(*c->maps));
	struct mapping *m = &c->maps[c->n_maps++];
	memcpy(&m->addr, p + 8, 8);
	memcpy(&m->size, p + 16, 8);
	memcpy(&m->offset, p + 24, 8);
	size_t n = strnlen((const char *)p + 64, sizeof(m->path) - 1);
	memcpy(m->path, p + 64, n);
	m->path[n] = '\0';
}

static void add_sample(struct session *s, const uint8_t *p)
{
	struct capture *c = s->to;
	uint64_t abi, size, dynamic;
	memcpy(&abi, p + 8, 8);
	if (!abi || c->n_samples == s->max)
		return;
	struct sample x = { 0 };
	memcpy(&x.tid, p + 4, 4);
	for (int i = 0; i < 17; i++)
		memcpy(&x.regs[dwarf_number[i]], p + 16 + 8 * i, 8);
	p += 16 + 17 * 8;
	memcpy(&size, p, 8);
	if (size)
		memcpy(&dynamic, p + 8 + size, 8);
	x.size = size ? dynamic : 0;
	x.stack = malloc(x.size + 1);
	memcpy(x.stack, p + 8, x.size);
	if (!c->n_samples)
		c->samples = malloc(s->max * sizeof(*c->samples));
	c->samples[c->n_samples++] = x;
}

static void add_record(struct session *s, const struct perf_event_header *h, const uint8_t *body)
{
	uint32_t pid;
	uint64_t n;
	memcpy(&pid, body, 4);
	if (h->type == PERF_RECORD_LOST) {
		memcpy(&n, body + 8, 8);
		s->to->lost += n;
	} else if (pid != (uint32_t)s->pid)
		return;
	else if (h->type == PERF_RECORD_SAMPLE)
		add_sample(s, body);
	else if (h->type == PERF_RECORD_MMAP2)
		add_mapping(s->to, body);
}

static void drain(struct session *s, struct ring *r)
{
	static uint8_t record[1 << 16];
	const uint8_t *data = (const uint8_t *)r->page + r->page->data_offset;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	while (tail < head) {
		struct perf_event_header h;
		for (size_t i = 0; i < sizeof(h); i++)
			((uint8_t *)&h)[i] = data[(tail + i) % r->size];
		size_t at = tail % r->size, first = r->size - at < h.size ? r->size - at : h.size;
		memcpy(record, data + at, first);
		memcpy(record + first, data, h.size - first);
		add_record(s, &h, record + sizeof(h));
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- running ---- */

static pid_t start(char **argv, int *go)
{
	int pipes[2];
	if (pipe(pipes) < 0)
		return -1;
	pid_t pid = fork();
	if (!pid) {
		char c;
		close(pipes[1]);
		if (read(pipes[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

static void collect(struct session *s)
{
	bool running = true;
	int status;
	while (running) {
		struct pollfd fds[MAX_CPUS];
		for (int i = 0; i < s->n; i++)
			fds[i] = (struct pollfd){ s->rings[i].fd, POLLIN, 0 };
		poll(fds, (nfds_t)s->n, 20);
		running = waitpid(s->pid, &status, WNOHANG) == 0;
		for (int i = 0; i < s->n; i++)
			drain(s, &s->rings[i]);
	}
}

const char *capture_run(char **argv, unsigned hz, uint32_t stack, size_t max, struct capture *ret)
{
	static struct session s;
	const char *problem = NULL;
	int go = -1, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	memset(&s, 0, sizeof(s));
	s.to = ret;
	s.max = max;
	s.pid = start(argv, &go);
	for (int cpu = 0; !problem && cpu < cpus && cpu < MAX_CPUS; cpu++) {
		struct ring *r = &s.rings[s.n];
		r->fd = open_event(s.pid, cpu, hz, stack);
		if (r->fd < 0)
			problem = strerror(errno);
		else if (s.n++, !map_ring(r))
			problem = "no memory for samples";
	}
	if (!problem && write(go, "g", 1) == 1)
		collect(&s);
	close(go);
	if (problem)
		waitpid(s.pid, NULL, 0);
	return problem;
}

void capture_done(struct capture *c)
{
	for (size_t i = 0; i < c->n_samples; i++)
		free(c->samples[i].stack);
	free(c->samples);
	free(c->maps);
}
