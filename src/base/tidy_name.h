/* tidy_name.h - demangled names as people write them. */
#ifndef BASE_TIDY_NAME_H
#define BASE_TIDY_NAME_H

#include "base/base.h"

/* "std::string" for the demangler's long form. Different names stay different unless `for_people`:
 * people_name.h. Cost: linear. To be freed; NULL: the name needs no change. */
char *tidy_name(const char *readable, bool for_people);

/* "linalg::norm" for "__linalg_MOD_norm"; to be freed. NULL: the name needs no change. */
char *tidy_fortran(const char *symbol);

#endif
