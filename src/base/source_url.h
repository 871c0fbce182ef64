/* source_url.h - links to source files on a forge: "https://forge.example/tree/{file}#L{line}". */
#ifndef BASE_SOURCE_URL_H
#define BASE_SOURCE_URL_H

#include "base/base.h"

/* Whether a template is an address of the web, without blanks, with the place of the file: {file}.
 */
bool source_url_is_valid(const char *text);

#endif
