/* arg.h - parses numeric arguments of options.
 *
 *	return arg_u64(arg, 1, 1000, &n) || arg_bad("-n", arg, "a number to 1000", error); */
#ifndef CLI_ARG_H
#define CLI_ARG_H

#include "base/base.h"

/* Decimal, without trailing characters; *ret is set only if the number is between low and high. */
bool arg_u64(const char *arg, uint64_t low, uint64_t high, uint64_t *ret);
/* A number, optionally followed by `unit`, between low and high. */
bool arg_double(const char *arg, const char *unit, double low, double high, double *ret);

/* A percentage between these, "5" or "5%", as a share. */
bool arg_share(const char *arg, double low, double high, double *ret);
/* A duration, "100ms", "1.5m", "2d", in seconds without a unit; more than 0, in nanoseconds. */
bool arg_duration(const char *arg, uint64_t *ret_ns);

/* A size, "512K": bytes with the unit B, K, M or G, more than 0. */
bool arg_size(const char *arg, uint64_t *ret);

/* "-n: 'x' is not <what>" in error[]. Returns false. */
bool arg_bad(const char *option, const char *arg, const char *what, char error[512]);

#endif
