/* jitted.c - a program that makes code at run time and announces it: jitted framed|bare
 * map|dump|none SECONDS.
 *
 * The code calls spin() many times. "framed" keeps a frame pointer; "bare" has another value in its
 * register, so that the jitdump's call-frame information alone leads out of it. The names are in
 * /tmp/perf-PID.map or ./jit-PID.dump, of which a page is mapped, as perf wants it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 20000 };

static volatile unsigned sum;

__attribute__((noinline)) static void spin(void)
{
	for (unsigned i = 0; i < 100; i++)
		sum += i;
}

/* push %rbp; mov %rsp,%rbp; push %rbx; push %r12; mov %rdi,%rbx; mov $COUNT,%r12d; 1: call *%rbx;
 * dec %r12d; jnz 1b; pop %r12; pop %rbx; pop %rbp; ret */
static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0x48, 0x89, 0xfb,
				  0x41, 0xbc, 0x20, 0x4e, 0,    0,    0xff, 0xd3, 0x41, 0xff,
				  0xcc, 0x75, 0xf9, 0x41, 0x5c, 0x5b, 0x5d, 0xc3 };
/* push %rbx; push %rbp; push %r12; mov %rdi,%rbx; mov $1,%ebp; mov $COUNT,%r12d; 1: call *%rbx; dec
 * %r12d; jnz 1b; pop %r12; pop %rbp; pop %rbx; ret */
static const uint8_t bare[] = { 0x53, 0x55, 0x41, 0x54, 0x48, 0x89, 0xfb, 0xbd, 1,    0,
				0,    0,    0x41, 0xbc, 0x20, 0x4e, 0,    0,    0xff, 0xd3,
				0x41, 0xff, 0xcc, 0x75, 0xf9, 0x41, 0x5c, 0x5d, 0x5b, 0xc3 };

/* ---- .eh_frame and .eh_frame_hdr of `bare` ---- */

struct frames {
	uint8_t at[128];
	unsigned n, hdr;
};

static void put(struct frames *f, const void *bytes, unsigned n)
{
	memcpy(f->at + f->n, bytes, n);
	f->n += n;
}

static void put32(struct frames *f, uint32_t v) { put(f, &v, 4); }

static struct frames frames_of_bare(void)
{
	static const uint8_t cie[] = { 1, 'z', 'R',  0, 1, 0x78, 16, 1, 0x1b, 0x0c,
				       7, 8,   0x90, 1, 0, 0,    0,  0, 0,    0 };
	/* the CFA is 8 further with each push; rbx, rbp, r12 are below the return address */
	static const uint8_t fde[] = { 0,    0x41, 0x0e, 16,   0x83, 2, 0x41, 0x0e, 24, 0x86,
				       3,    0x42, 0x0e, 32,   0x8c, 4, 0x57, 0x0e, 24, 0x41,
				       0x0e, 16,   0x41, 0x0e, 8,    0, 0,    0 };
	uint32_t code = (sizeof(bare) + 7) & ~7u, fde_at;
	static const uint8_t hdr[] = { 1, 0x1b, 3, 0x3b };
	struct frames f = { .n = 0 };

	put32(&f, 4 + sizeof(cie));
	put32(&f, 0);
	put(&f, cie, sizeof(cie));
	fde_at = f.n;
	put32(&f, 4 + 8 + sizeof(fde));
	put32(&f, f.n);
	put32(&f, (uint32_t) - (int32_t)(code + f.n));
	put32(&f, sizeof(bare));
	put(&f, fde, sizeof(fde));
	put32(&f, 0);
	f.hdr = f.n;
	put(&f, hdr, sizeof(hdr));
	put32(&f, (uint32_t) - (int32_t)f.n);
	put32(&f, 1);
	put32(&f, (uint32_t) - (int32_t)(code + f.hdr));
	put32(&f, fde_at - f.hdr);
	return f;
}

/* ---- the map and the jitdump ---- */

static void write_map(const uint8_t *at, size_t n, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%jx %zx %s\n", (uintmax_t)(uintptr_t)at, n, name);
	fclose(f);
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_dump(const uint8_t *at, size_t n, const char *name, bool with_frames)
{
	struct frames f = frames_of_bare();
	char path[64];
	uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid() };
	uint64_t more[] = { now_ns(), 0 };
	uint64_t frames[] = { f.n, f.n - f.hdr, 0 }, address = (uintptr_t)at;
	uint32_t first[] = { 4, 16 + 24 + f.n },
		 second[] = { 0, (uint32_t)(56 + strlen(name) + 1 + n) };
	uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t load[] = { address, address, n, 1 };

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	FILE *file = fopen(path, "w+");
	fwrite(head, 1, sizeof(head), file);
	fwrite(more, 1, sizeof(more), file);
	if (with_frames) {
		fwrite(first, 1, sizeof(first), file);
		fwrite(more, 1, 8, file);
		fwrite(frames, 1, sizeof(frames), file);
		fwrite(f.at, 1, f.n, file);
	}
	fwrite(second, 1, sizeof(second), file);
	fwrite(more, 1, 8, file);
	fwrite(ids, 1, sizeof(ids), file);
	fwrite(load, 1, sizeof(load), file);
	fwrite(name, 1, strlen(name) + 1, file);
	fwrite(at, 1, n, file);
	fflush(file);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	fclose(file);
}

int main(int argc, char **argv)
{
	bool is_framed = argc > 1 && !strcmp(argv[1], "framed");
	const char *how = argc > 2 ? argv[2] : "none", *name = argc > 1 ? argv[1] : "";
	const uint8_t *code = is_framed ? framed : bare;
	size_t n = is_framed ? sizeof(framed) : sizeof(bare);
	double seconds = argc > 3 ? atof(argv[3]) : 0.2;
	uint8_t *at = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return 77;
	memcpy(at + 256, code, n);
	if (!strcmp(how, "map"))
		write_map(at + 256, n, name);
	if (!strcmp(how, "dump"))
		write_dump(at + 256, n, name, !is_framed);
	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		((void (*)(void (*)(void)))(uintptr_t)(at + 256))(spin);
	return 0;
}
