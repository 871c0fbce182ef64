/* kin_private.h - declarations shared by the files that write .kin files. */
#ifndef INPUT_KIN_PRIVATE_H
#define INPUT_KIN_PRIVATE_H

#include <sys/uio.h>

#include "base/vec.h"
#include "formats/kin/kin_write.h"

/* Readers refuse a block that unpacks to more than this, or to more than KIN_MAX_RATIO times its
 * stored size plus KIN_RATIO_FREE bytes, so that a small file cannot fill the memory. */
enum { KIN_MAX_PLAIN = 4 << 20, KIN_MAX_RATIO = 64, KIN_RATIO_FREE = 16 << 10 };

/* Records before they are sealed. */
struct kinfile_plain {
	VEC(uint8_t) bytes;
	uint64_t time_ns; /* of the last record that has a time */
};

/* Longer texts are truncated: no valid name or path is as long, but a file may hold anything. */
enum { KIN_MAX_TEXT = 1 << 20 };

void kinfile_put_u8(struct kinfile_plain *to, uint8_t v);
void kinfile_put(struct kinfile_plain *to, uint64_t v);        /* unsigned LEB128 */
void kinfile_put_signed(struct kinfile_plain *to, uint64_t v); /* zigzag of v as a signed number */
void kinfile_put_time(struct kinfile_plain *to, uint64_t time_ns);
void kinfile_put_text(struct kinfile_plain *to, const void *s, size_t n);

/* Writes the record of a sample with ids of the file. `end`: KINF_MODE_COMPLETE, _GUESSED or _CUT;
 * 0: not known. */
void kinfile_put_sample(struct kinfile_plain *to, const struct sample *s, uint32_t end);
/* Writes a whole record. */
void kinfile_put_details(struct kinfile_plain *to, const struct detail *d, const uint64_t *words);

/* Memory for sealing blocks. */
struct kinfile_packer {
	struct ZSTD_CCtx_s *zstd; /* NULL: no memory */
	int level;
	uint8_t *at;
	size_t cap;
};
void kinfile_packer_init(struct kinfile_packer *p, int level);
void kinfile_packer_done(struct kinfile_packer *p);
/* Seals a block of these records and returns its header. *payload, valid until the next call, is
 * the stored payload: compressed, unless that is no gain, more than a reader accepts, or there is
 * no memory. */
struct kinf_block kinfile_seal(struct kinfile_packer *p, enum kinf_type type, const uint8_t *plain,
			       size_t n, const uint8_t **payload);

/* kin_names_write.c: all kept names as blocks, *n bytes, to be freed; NULL: there are none. */
uint8_t *kinfile_names_blocks(const struct kept *k, size_t *n);

/* Creates a file of mode 0600. An old recording of that name is removed once the new one is
 * complete. */
MUST_CHECK struct kin_error *kinfile_file_create(const char *path, int *ret);
/* Writes all bytes, with one call if the kernel takes it; false and errno on failure. Changes v. */
bool kinfile_file_write(int fd, struct iovec *v, int n, uint64_t offset);

/* Appends to a pipe. EPIPE if its reader is gone. */
bool kinfile_pipe_write(int fd, struct iovec *v, int n);

/* A writer into memory; kinfile_writer_finish_memory() writes the file. */
struct kinfile_writer *kinfile_writer_in_memory(const struct kinfile_writer_opts *opts);
/* `kept`: names to append; NULL: none. */
MUST_CHECK struct kin_error *
kinfile_writer_finish_memory(struct kinfile_writer *w, const char *path, const struct kept *kept);

/* The buffer, with the start of a block in it, for a record that the public functions do not write;
 * call kinfile_writer_put_done() after the record. */
struct kinfile_plain *kinfile_writer_plain(struct kinfile_writer *w);
void kinfile_writer_put_done(struct kinfile_writer *w);
/* Adds single definitions, for callers that intern by themselves. */
uint32_t kinfile_writer_put_frame(struct kinfile_writer *w, const struct kinfile_frame *f);
uint32_t kinfile_writer_put_stack(struct kinfile_writer *w, uint32_t caller, uint32_t frame);
uint32_t kinfile_writer_next_id(struct kinfile_writer *w, enum kinf_record kind);

#endif
