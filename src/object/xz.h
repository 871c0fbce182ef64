/* xz.h - what .gnu_debugdata holds. */
#ifndef OBJECT_XZ_H
#define OBJECT_XZ_H

#include <stddef.h>
#include <stdint.h>

/* in[n] unpacked: allocated, *size bytes. NULL if it is damaged, would unfold to absurdly much, or
 * cannot be unpacked: *trouble is then ENOMEM, or ELIBACC where liblzma is not installed, and else
 * untouched. */
uint8_t *xz_unpack(const uint8_t *in, size_t n, size_t *size, int *trouble);

#endif
