/* remedies.h - advice on how to get names for code without any, and for functions inlined in it: a
 * line for each kind of code with many samples. */
#ifndef SYMBOLIZE_REMEDIES_H
#define SYMBOLIZE_REMEDIES_H

#include "base/remarks.h"
#include "symbolize/program.h"

/* Adds a hint for
 *
 * - the file without symbols that most samples were in;
 * - the file of which a part of the debug information is missing, that most samples were in;
 * - code made at run time, by what made it, where that is known: Java, Node.js, Python;
 * - functions that Java or Node.js interprets, of which only the interpreter is seen;
 * - such code of Java or Node.js that spends its time in what it calls;
 * - functions of Python, which run in its interpreter's.
 *
 * Less than REMEDY_SHARE of all samples is not worth a line. */
#define REMEDY_SHARE 0.05
void remedies_find(const struct program *g, const struct profile *p, struct remarks *to);

#endif
