/* unpacked.c - the cache files of unpacked sections: how they are named, read and replaced. */
#include "object/unpacked.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/num.h"

enum { PACKED_MIN = 4 << 10, LARGEST = 16 << 20, ALL = 64 << 20, ORDER = 0x01020304 };
enum { ID_MIN = 4, ID_MAX = 64 }; /* bytes of a build id */

/* The name has the section's index rather than its name, which the ELF file chooses. */
void unpacked_init(struct unpacked *u, const uint8_t *id, size_t n, const struct unpacked_mark *of)
{
	char hex[2 * ID_MAX + 1];
	char *folder = NULL;
	*u = (struct unpacked){ .mark = *of };
	memcpy(u->mark.magic, "KINSEC\r\n", sizeof(u->mark.magic));
	u->mark.order = ORDER;
	u->mark.checksum = 0;
	if (id && n >= ID_MIN && n <= ID_MAX && of->packed_size >= PACKED_MIN)
		folder = folder_cache("sections");
	if (!folder)
		return;
	num_hex(hex, id, n);
	u->path = xprintf("%s/%s.%llu", folder, hex, (unsigned long long)of->index);
	free(folder);
}

void unpacked_done(struct unpacked *u)
{
	free(u->path);
	*u = (struct unpacked){ 0 };
}

static bool has_mark(const struct file *f, const struct unpacked_mark *want)
{
	struct unpacked_mark m;
	if (f->size <= sizeof(m))
		return false;
	uint8_t *at = f->data + f->size - sizeof(m);
	memcpy(&m, at, sizeof(m));
	memcpy(at, want, sizeof(*want));
	uint64_t checksum = m.checksum;
	m.checksum = 0;
	return !memcmp(&m, want, sizeof(m)) && folder_checksum(f->data, f->size) == checksum;
}

uint8_t *unpacked_read(const struct unpacked *u, uint64_t *size)
{
	struct file f = { 0 };
	if (!u->path)
		return NULL;
	struct file_opts opts = { .max = LARGEST + sizeof(u->mark) };
	struct kin_error *err = file_read(u->path, &opts, &f);
	bool good = !err && has_mark(&f, &u->mark);
	kin_error_free(err);
	if (!good) {
		file_free(&f);
		return NULL;
	}
	folder_used(u->path);
	*size = f.size - sizeof(u->mark);
	f.data[*size] = '\0';
	return f.data;
}

void unpacked_write(const struct unpacked *u, uint8_t *data, uint64_t size)
{
	struct unpacked_mark m = u->mark;
	if (!u->path || !size || size > LARGEST)
		return;
	size_t all = (size_t)size + sizeof(m);
	memcpy(data + size, &m, sizeof(m));
	m.checksum = folder_checksum(data, all);
	memcpy(data + size, &m, sizeof(m));
	folder_keep(u->path, data, all, ALL);
}
