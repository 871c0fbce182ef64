/* argfile.c - replaces @FILE by the words in it. */
#include "gnu/argfile.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"

/* Enough for any real use, but a limit for files that include each other. */
enum { MAX_FILES = 2000, MAX_BYTES = 64 << 20 };

typedef VEC(char *) word_list;

/* The next word of *text, unquoted in place, or NULL at the end. */
static char *next_word(char **text)
{
	char *s = *text;
	while (isspace((unsigned char)*s))
		s++;
	*text = s;
	if (!*s)
		return NULL;

	char *word = s, *end = s, quote = 0;
	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (*s == '\\' && s[1])
			*end++ = *++s;
		else if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? 0 : *s;
		else if (*s != '\\')
			*end++ = *s;
	}
	*text = *s ? s + 1 : s;
	*end = '\0';
	return word;
}

/* Pushes the words of `text` so that the first one comes off `todo` first. */
static void push_words(char *text, word_list *todo)
{
	size_t first = todo->n;
	for (char *word; (word = next_word(&text));)
		vec_push(todo, word);
	for (size_t i = first, j = todo->n; i + 1 < j; i++) {
		char *swap = todo->at[i];
		todo->at[i] = todo->at[--j];
		todo->at[j] = swap;
	}
}

struct kin_error *argfile_expand(struct arena *a, int *argc, char ***argv)
{
	word_list todo = { 0 }, done = { 0 };
	size_t files = 0, bytes = 0;
	struct kin_error *err = NULL;

	for (int i = *argc - 1; i > 0; i--)
		vec_push(&todo, (*argv)[i]);
	if (*argc > 0)
		vec_push(&done, (*argv)[0]);
	while (todo.n && !err) {
		char *word = todo.at[--todo.n];
		struct file_opts opts = { .max = MAX_BYTES, .allow_fifo = true };
		struct file f;
		struct kin_error *unreadable = NULL;
		if (word[0] != '@' ||
		    (unreadable = file_read(strcmp(word, "@-") ? word + 1 : "./-", &opts, &f))) {
			kin_error_free(unreadable);
			vec_push(&done, word);
			continue;
		}
		bytes += f.size;
		if (++files > MAX_FILES || bytes > MAX_BYTES)
			err = err_new(KIN_ERROR_USAGE,
				      "%s: too many @-files: do they name each other?", word);
		else
			push_words(arena_copy(a, f.data, f.size + 1, 1), &todo);
		file_free(&f);
	}
	if (!err) {
		*argc = (int)done.n;
		vec_push(&done, NULL);
		*argv = arena_copy(a, done.at, done.n, sizeof(*done.at));
	}
	vec_free(&todo);
	vec_free(&done);
	return err;
}
