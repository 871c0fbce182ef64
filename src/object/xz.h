/* xz.h - unpacks xz, the format of .gnu_debugdata. */
#ifndef OBJECT_XZ_H
#define OBJECT_XZ_H

#include <stddef.h>
#include <stdint.h>

/* Unpacks in[n] to *size allocated bytes. NULL if it is damaged or would unpack to an absurd size;
 * also if it cannot be unpacked: then *trouble is ENOMEM, or ELIBACC where liblzma is not
 * installed, and else untouched. */
uint8_t *xz_unpack(const uint8_t *in, size_t n, size_t *size, int *trouble);

#endif
