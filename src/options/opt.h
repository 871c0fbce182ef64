/* opt.h - command line options from tables.
 *
 * Options are described only in tables, which the parser, --help, the man page and the shells'
 * completions all read. Letters may be clustered (-ab) and take their argument glued or as the next
 * word (-oFILE, -o FILE); long names may be cut to a unique prefix and take it with "=" or as the
 * next word, if the name is cut only as a word that does not look like an option. An optional
 *argument is only taken glued or with "=". Options and operands mix; "--" ends the options.
 *
 *	struct opt_parser p = opt_parser(groups, argc, argv);
 *	for (int id; (id = opt_next(&p)) != OPT_END;)
 *		switch (id) { case OPT_OPERAND: ... p.arg ...; case OPT_ERROR: ... p.error ...; }
 *
 * A row whose option only sets a member of a struct says which, and opt_store() sets it:
 *
 *	{ OPT_FIELD, 'q', "quiet", NULL, "print nothing", OPT_SETS(struct run_line, quiet) } */
#ifndef OPTIONS_OPT_H
#define OPTIONS_OPT_H

#include "base/base.h"
#include "base/vec.h"

enum opt_completion {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_DIRECTORY,
	COMPLETE_FORMAT /* formats that kin writes */
};

/* Where a letter's argument in the next word may be omitted: at the end of the line, before an
 * option, and before certain words. */
enum opt_lenience {
	ARG_NEEDED,
	ARG_OR_OPTION, /* if the option has `values`, also before any other word; the long name may
			  omit it, too, but not before a word */
	ARG_OR_FILE, /* before the name of an existing file that is none of the `values`: for perf's
			-f, which is ignored here */
};

struct string_list {
	VEC(const char *) at; /* followed by a NULL */
};

/* The word must live as long as the list. */
void string_list_add(struct string_list *l, const char *word);

/* Where the value of an option goes that does nothing but set a member of a struct. */
struct opt_field {
	const char *of; /* the struct: "struct settings"; NULL: code sets the option, by its id */
	size_t offset;
	enum opt_kind {
		FIELD_TRUE,  /* a bool */
		FIELD_FALSE, /* the same, made false */
		FIELD_TEXT,  /* const char *: the argument */
		FIELD_LIST,  /* struct string_list: one more word */
	} kind;
};

/* Members of a row; the kind is that of the member's type. */
#define OPT_SETS(type, member)                                                                     \
	.field = { #type, offsetof(type, member),                                                  \
		   _Generic(((type *)NULL)->member,                                                \
			   bool: FIELD_TRUE,                                                       \
			   const char *: FIELD_TEXT,                                               \
			   struct string_list: FIELD_LIST) }
#define OPT_CLEARS(type, member)                                                                   \
	.field = { #type, offsetof(type, member),                                                  \
		   _Generic(((type *)NULL)->member, bool                                           \
			    : FIELD_FALSE) }

/* Trailing members that are 0 may be left out of a row. */
struct opt {
	int id;             /* what opt_next() returns, > 0; 0 ends the table */
	char letter;        /* 0: only a long name */
	const char *name;   /* NULL: only a letter */
	const char *arg;    /* "FILE"; "[STYLE]" if optional; NULL: no argument */
	const char *help;   /* a sentence without full stop */
	const char *values; /* "text json csv": all valid values; NULL: anything */
	enum opt_completion completion;
	enum opt_lenience lenient;
	bool more; /* the value may be a list separated by commas; the option's code checks the
		      rest */
	bool ends; /* ends the options, as "--" does: all words after it are operands */
	struct opt_field field;
};

enum { OPT_FIELD = 999 }; /* id of rows that need none: they have a field */

struct opt_refusal {      /* an option of another program, and why it is refused */
	char letter;      /* 0: none */
	const char *name; /* NULL ends the list */
	const char *why;  /* a phrase without a full stop: "kin info says that" */
};

enum opt_use { /* whether the help of a command describes the options of a group */
	       OPTS_OWN,
	       OPTS_SHARED, /* of several commands: kin help options does */
	       OPTS_RARE,   /* kin help all COMMAND does, as it does all others */
};

struct opt_group {
	const char *title;
	const struct opt *opts;
	enum opt_use use;
};

enum { OPT_END = 0, OPT_OPERAND = -1, OPT_ERROR = -2 };

struct opt_parser {
	const struct opt_group *const *groups; /* NULL-terminated */
	const struct opt_refusal *const
		*refused; /* NULL-terminated; NULL: none. Set by the caller */
	int argc;
	char **argv;           /* borrowed: arguments point into it */
	int next;              /* index of the next word */
	const char *letters;   /* rest of a cluster */
	bool ended;            /* "--" was seen */
	const struct opt *row; /* of the option returned */
	const char *arg;       /* argument of the option returned, NULL if none; or the operand */
	char error[512];       /* after OPT_ERROR: one line */
};

/* argv[0] is skipped. */
struct opt_parser opt_parser(const struct opt_group *const *groups, int argc, char **argv);
/* May be called again after OPT_ERROR, to go on with the next option. */
int opt_next(struct opt_parser *p);

/* Stores the argument where the row says, in a struct of type `of`. False: the row has no field, or
 * one of another struct. */
bool opt_store(const struct opt *row, const char *of, void *base, const char *arg);

static inline bool opt_arg_is_optional(const struct opt *o) { return o->arg && o->arg[0] == '['; }

#endif
