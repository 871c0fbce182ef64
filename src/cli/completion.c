/* completion.c - completion scripts for bash, zsh and fish. */
#include <string.h>

#include "cli/docgen.h"

/* Escapes text for use within '...' of a shell, and the characters in `also`. */
static void quoted(FILE *out, const char *s, const char *also)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", out);
		else if (strchr(also, *s))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

/* Calls put(out, c, o) for each option of each command. */
static void each_option(FILE *out, const struct command *c,
			void (*put)(FILE *out, const struct command *c, const struct opt *o))
{
	struct arena a = { 0 };
	for (const struct opt_group *const *g = docgen_options(c, &a); *g; g++)
		for (const struct opt *o = (*g)->opts; o->id; o++)
			put(out, c, o);
	arena_release(&a);
}

static void names(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s ", commands[i]->name);
	fputs("help", out);
}

/* ---- bash ---- */

static void bash_word(FILE *out, const struct command *c, const struct opt *o)
{
	(void)c;
	if (o->name)
		fprintf(out, " --%s%s", o->name, o->arg ? "=" : "");
	else
		fprintf(out, " -%c", o->letter);
}

/* The patterns after which the value comes: after "=", or as the next word unless the value is
 * optional. */
static void bash_pattern(FILE *out, const struct command *c, const struct opt *o)
{
	const char *before = "\t";
	if (o->name) {
		fprintf(out, "%s%s:--%s=", before, c->name, o->name);
		before = " | ";
		if (!opt_arg_is_optional(o))
			fprintf(out, "%s%s:--%s", before, c->name, o->name);
	}
	if (o->letter && !opt_arg_is_optional(o))
		fprintf(out, "%s%s:-%c", before, c->name, o->letter);
	fputs(") ", out);
}

/* Writes the words that an option takes; false: there is no such list. */
static bool words(FILE *out, const struct opt *o, const char *before, const char *after)
{
	const struct kin_format *f;
	const char *between = "";
	if (!o->values && o->completion != COMPLETE_FORMAT)
		return false;
	fputs(before, out);
	if (o->values)
		fputs(o->values, out);
	for (size_t i = 0; !o->values && (f = kin_format_at(i)); i++) {
		if (!f->is_written)
			continue;
		fprintf(out, "%s%s", between, f->name);
		between = " ";
	}
	fputs(after, out);
	return true;
}

static void bash_values(FILE *out, const struct command *c, const struct opt *o)
{
	if (!o->arg || (!o->name && opt_arg_is_optional(o)))
		return;
	bash_pattern(out, c, o);
	if (words(out, o, "words='", "'"))
		;
	else if (o->completion == COMPLETE_FILE)
		fputs("kind=-f", out);
	else if (o->completion == COMPLETE_DIRECTORY)
		fputs("kind=-d", out);
	else
		fputs("kind=none", out);
	fputs(" ;;\n", out);
}

void complete_bash(FILE *out)
{
	fputs("# bash completion for kin and gprof\n"
	      "# a file is a line: names may have blanks\n"
	      "_kin_files() {\n"
	      "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	      "    compopt -o filenames 2>/dev/null\n"
	      "}\n"
	      "_kin() {\n"
	      "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "    local command=${COMP_WORDS[1]} option= words= kind=\n"
	      "    [ \"${COMP_WORDS[0]##*/}\" = gprof ] && command=gprof\n"
	      "    if [ $COMP_CWORD -eq 1 ] && [ \"$command\" != gprof ] || [ \"$command\" = help "
	      "]; then\n"
	      "        COMPREPLY=($(compgen -W '",
	      out);
	names(out);
	fputs("' -- \"$cur\"))\n"
	      "        case $command:$cur in\n"
	      "        help:*) ;;\n"
	      "        */*) _kin_files -f ;;\n"
	      "        esac\n"
	      "        return\n"
	      "    fi\n"
	      "    # --name=value is three words, or two when value is empty\n"
	      "    if [ \"$cur\" = = ]; then option=$prev= cur=\n"
	      "    elif [ \"$prev\" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}=\n"
	      "    elif [[ $prev == -* ]]; then option=$prev\n"
	      "    fi\n"
	      "    case $command:$option in\n",
	      out);
	for (size_t i = 0; commands[i]; i++)
		each_option(out, commands[i], bash_values);
	fputs("    esac\n"
	      "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); "
	      "return; fi\n"
	      "    case $kind in\n"
	      "    none) COMPREPLY=(); return ;;\n"
	      "    -?) _kin_files $kind; return ;;\n"
	      "    esac\n"
	      "    case $cur in\n"
	      "    -*) case $command in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "        %s) words='", commands[i]->name);
		each_option(out, commands[i], bash_word);
		fputs("' ;;\n", out);
	}
	fputs("        esac\n"
	      "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null ;;\n"
	      "    *) _kin_files -f ;;\n"
	      "    esac\n"
	      "}\n"
	      "complete -F _kin kin gprof\n",
	      out);
}

/* ---- zsh ---- */

static void zsh_action(FILE *out, const struct opt *o)
{
	if (!o->arg)
		return;
	fputs(opt_arg_is_optional(o) ? "::" : ":", out);
	for (const char *p = o->arg; *p; p++)
		if (*p != '[' && *p != ']')
			fputc(*p, out);
	if (words(out, o, ":(", ")"))
		;
	else if (o->completion == COMPLETE_FILE)
		fputs(":_files", out);
	else if (o->completion == COMPLETE_DIRECTORY)
		fputs(":_files -/", out);
	else
		fputs(": ", out);
}

static void zsh_option(FILE *out, const struct command *c, const struct opt *o)
{
	(void)c;
	for (int k = 0; k < 2; k++) {
		if (k ? !o->name : !o->letter)
			continue;
		fputs(" \\\n            '*", out);
		if (k)
			fprintf(out, "--%s%s", o->name,
				!o->arg                  ? ""
				: opt_arg_is_optional(o) ? "=-"
							 : "=");
		else
			fprintf(out, "-%c%s", o->letter,
				!o->arg                  ? ""
				: opt_arg_is_optional(o) ? "-"
							 : "+");
		fputc('[', out);
		quoted(out, o->help, "[]:\\");
		fputc(']', out);
		zsh_action(out, o);
		fputc('\'', out);
	}
}

void complete_zsh(FILE *out)
{
	fputs("#compdef kin gprof\n"
	      "_kin() {\n"
	      "    local command=$words[2]\n"
	      "    local -a commands\n"
	      "    commands=(\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "        '%s:", commands[i]->name);
		quoted(out, commands[i]->summary, ":\\");
		fputs("'\n", out);
	}
	fputs("        'help:how kin or a command is used'\n"
	      "    )\n"
	      "    if [[ $service == gprof ]]; then\n"
	      "        command=gprof\n"
	      "    elif (( CURRENT == 2 )) || [[ $command == help ]]; then\n"
	      "        if [[ $PREFIX == */* ]]; then _files; else _describe command commands; "
	      "fi\n"
	      "        return\n"
	      "    else\n"
	      "        shift words\n"
	      "        (( CURRENT-- ))\n"
	      "    fi\n"
	      "    case $command in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "    %s)\n        _arguments -s", commands[i]->name);
		each_option(out, commands[i], zsh_option);
		fputs(" \\\n            '*:file:_files' ;;\n", out);
	}
	fputs("    esac\n}\n_kin \"$@\"\n", out);
}

/* ---- fish ---- */

static void fish_words(FILE *out, const struct opt *o)
{
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	if (o->name)
		fprintf(out, " -l %s", o->name);
	if (words(out, o, " -x -a '", "'"))
		;
	else if (o->arg && !opt_arg_is_optional(o))
		fputs(o->completion == COMPLETE_NOTHING ? " -x" : " -r", out);
	fputs(" -d '", out);
	quoted(out, o->help, "\\");
	fputs("'\n", out);
}

static void fish_option(FILE *out, const struct command *c, const struct opt *o)
{
	fprintf(out, "complete -c kin -n '__fish_seen_subcommand_from %s'", c->name);
	fish_words(out, o);
	if (c->main_is_elsewhere) {
		fputs("complete -c gprof", out);
		fish_words(out, o);
	}
}

void complete_fish(FILE *out)
{
	fputs("# fish completion for kin and gprof\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "complete -c kin -f -n __fish_use_subcommand -a %s -d '",
			commands[i]->name);
		quoted(out, commands[i]->summary, "\\");
		fputs("'\n", out);
	}
	fputs("complete -c kin -n '__fish_use_subcommand; and string match -q \"*/*\" -- "
	      "(commandline -ct)' -F\n"
	      "complete -c kin -f -n __fish_use_subcommand -a help -d 'how kin or a command is "
	      "used'\n"
	      "complete -c kin -f -n '__fish_seen_subcommand_from help' -a '",
	      out);
	names(out);
	fputs("'\n", out);
	for (size_t i = 0; commands[i]; i++)
		each_option(out, commands[i], fish_option);
}
