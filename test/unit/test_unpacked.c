/* The cache of unpacked sections: it returns the bytes that were stored, for the same section of
 * the same file; damage is noticed. */
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/folder.h"
#include "object/unpacked.h"

enum { SIZE = 1000, ALL = SIZE + sizeof(struct unpacked_mark) };

static const struct unpacked_mark mark = { .magic = "KINSEC\r\n",
					   .order = 0x01020304,
					   .file_size = 5000,
					   .modified_ns = 77,
					   .changed_ns = 78,
					   .index = 3,
					   .packed_size = 400 };

static void fill(uint8_t *bytes)
{
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * i >> 3);
}

static bool is_back(const struct unpacked *u)
{
	uint8_t want[SIZE];
	uint64_t size;
	fill(want);
	uint8_t *got = unpacked_read(u, &size);
	bool same = got && size == SIZE && !memcmp(got, want, SIZE) && !got[SIZE];
	free(got);
	return same;
}

static bool is_known(const struct unpacked *u)
{
	uint64_t size;
	uint8_t *got = unpacked_read(u, &size);
	free(got);
	return got != NULL;
}

static bool put(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return good;
}

static void test_back(const struct unpacked *u)
{
	uint8_t bytes[ALL];
	struct stat st;
	fill(bytes);
	OK(!is_known(u));
	unpacked_write(u, bytes, SIZE);
	OK(is_back(u));
	OK(!stat(u->path, &st) && st.st_size == ALL && (st.st_mode & 0777) == 0600);
}

static void test_others(const struct unpacked *u)
{
	struct unpacked others[5] = { *u, *u, *u, *u, *u };
	others[0].mark.file_size++;
	others[1].mark.modified_ns++;
	others[2].mark.index++;
	others[3].mark.packed_size++;
	others[4].mark.changed_ns++;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		OK(!is_known(&others[i]));
	OK(is_back(u));
}

static void test_damage(const struct unpacked *u)
{
	uint8_t bytes[ALL];
	size_t taken = 0, cut = 0, put_back = 0;
	int fd = open(u->path, O_RDONLY);
	OK(fd >= 0 && read(fd, bytes, ALL) == ALL);
	close(fd);
	for (size_t i = 0; i < ALL; i++) {
		bytes[i] ^= 0x10;
		put_back += put(u->path, bytes, ALL);
		taken += is_known(u);
		bytes[i] ^= 0x10;
		put_back += put(u->path, bytes, i);
		cut += is_known(u);
	}
	OK(put_back == 2 * ALL);
	OK(taken == 0);
	OK(cut == 0);
	OK(put(u->path, bytes, ALL));
	OK(is_back(u));
}

/* Words that have changed places, a block of zeroes, and zeroes that are more or fewer. */
static void test_checksum(void)
{
	enum { WORD = 8, BLOCK = 64 };
	uint8_t bytes[SIZE], other[SIZE] = { 0 };
	uint64_t zeroes[SIZE];
	size_t unseen = 0;
	fill(bytes);
	uint64_t want = folder_checksum(bytes, SIZE);
	for (size_t far = WORD; far <= BLOCK; far += WORD) {
		for (size_t i = 0; i + far + WORD <= SIZE; i += WORD) {
			memcpy(other, bytes, SIZE);
			memcpy(other + i, bytes + i + far, WORD);
			memcpy(other + i + far, bytes + i, WORD);
			unseen +=
				memcmp(other, bytes, SIZE) && folder_checksum(other, SIZE) == want;
		}
	}
	for (size_t i = 0; i + BLOCK <= SIZE; i++) {
		memcpy(other, bytes, SIZE);
		memset(other + i, 0, BLOCK);
		unseen += folder_checksum(other, SIZE) == want;
	}
	memset(other, 0, SIZE);
	for (size_t n = 0; n < SIZE; n++) {
		zeroes[n] = folder_checksum(other, n);
		for (size_t i = 0; i < n; i++)
			unseen += zeroes[i] == zeroes[n];
	}
	OK(unseen == 0);
}

static void test_nothing(const struct unpacked *u)
{
	struct unpacked none = { .mark = mark };
	uint8_t bytes[ALL];
	fill(bytes);
	unpacked_write(&none, bytes, SIZE);
	OK(!is_known(&none));
	unlink(u->path);
	unpacked_write(u, bytes, 0);
	OK(!is_known(u));
	unlink(u->path);
	OK(!mkfifo(u->path, 0600));
	OK(!is_known(u)); /* and does not wait */
}

int main(void)
{
	char folder[] = "/tmp/kin-unpacked-XXXXXX";
	if (!mkdtemp(folder))
		return 1;
	struct unpacked u = { .path = xprintf("%s/sections/a.3", folder), .mark = mark };
	test_back(&u);
	test_others(&u);
	test_damage(&u);
	test_checksum();
	test_nothing(&u);
	unlink(u.path);
	char *sections = xprintf("%s/sections", folder);
	rmdir(sections);
	rmdir(folder);
	free(sections);
	unpacked_done(&u);
	return DONE();
}
