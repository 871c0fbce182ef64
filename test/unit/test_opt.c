/* Options as the table says them: letters, names, arguments, order. */
#include "tap.h"

#include "base/suggest.h"
#include "options/opt.h"

enum { ALL = 1, OUT, STYLE, FORMAT, FORCE, LETTER, CHAINS, HOW, REST };

static const struct opt_group first = {
	"First",
	(const struct opt[]){
		{ ALL, 'a', "all", NULL, "all", NULL, COMPLETE_NOTHING },
		{ OUT, 'o', "output", "FILE", "output", NULL, COMPLETE_FILE },
		{ STYLE, 'S', "style", "[STYLE]", "style", NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};
static const struct opt_group second = {
	"Second",
	(const struct opt[]){
		{ FORMAT, 0, "format", "FORMAT", "format", "text json csv", COMPLETE_NOTHING },
		{ FORCE, 0, "force", NULL, "force", NULL, COMPLETE_NOTHING },
		{ LETTER, 'x', NULL, "N", "only a letter", NULL, COMPLETE_NOTHING },
		{ CHAINS, 'g', "chains", "HOW", "may do without", "auto fp", COMPLETE_NOTHING,
		  ARG_OR_OPTION },
		{ HOW, 'G', "how", "HOW", "at the end, too", NULL, COMPLETE_NOTHING,
		  ARG_OR_OPTION },
		{ REST, 0, "rest", NULL, "the rest is another's", .ends = true },
		{ 0 },
	},
};
static const struct opt_group *const groups[] = { &first, &second, NULL };

static const struct opt_refusal refused[] = { { 'r', "refuse", "do this" },
					      { 0, "all-of-it", "do that" },
					      { 0 } };
static const struct opt_refusal more_refused[] = { { 'q', "quite", "do something else" }, { 0 } };

struct line {
	bool quiet, inlines;
	const char *text;
	struct string_list words;
};
struct other {
	const char *text;
};

/* Rows that say where their values go. */
static void test_fields(void)
{
	static const struct opt rows[] = {
		{ OPT_FIELD, 'q', "quiet", NULL, "quiet", OPT_SETS(struct line, quiet) },
		{ OPT_FIELD, 0, "no-inline", NULL, "no", OPT_CLEARS(struct line, inlines) },
		{ OPT_FIELD, 't', "text", "TEXT", "text", OPT_SETS(struct line, text) },
		{ OPT_FIELD, 'w', "word", "WORD", "word", OPT_SETS(struct line, words) },
		{ OPT_FIELD, 'o', "other", "TEXT", "other", OPT_SETS(struct other, text) },
		{ ALL, 'a', "all", NULL, "all" },
		{ 0 },
	};
	static const struct opt_group group = { "Fields", rows };
	static const struct opt_group *const all[] = { &group, NULL };
	static const char *const words[] = { "program", "-q",  "--no-inline", "-tx", "-wa",
					     "-wb",     "-oz", "-a",          NULL };
	struct opt_parser p = opt_parser(all, ARRAY_LEN(words) - 1, UNCONST(char **, words));
	struct line l = { .inlines = true };
	size_t stored = 0, left = 0;
	for (int id; (id = opt_next(&p)) != OPT_END;) {
		bool is_stored = opt_store(p.row, "struct line", &l, p.arg);
		stored += is_stored;
		left += !is_stored && (id == ALL || p.row->letter == 'o');
	}
	OK(stored == 5 && left == 2);
	OK(l.quiet && !l.inlines);
	OK_STR(l.text, "x");
	OK(l.words.at.n == 2 && !l.words.at.at[2]);
	OK_STR(l.words.at.at[1], "b");
	vec_free(&l.words.at);
}

/* The parser's results, as "id=argument" words; "!message" for an error. */
static void parses(const char *line, const char *want)
{
	char words[512], got[1024] = "";
	char *argv[32] = { words };
	int argc = 1;
	snprintf(words, sizeof(words), "kin %s", line);
	for (char *w = strchr(words, ' '); w && w[1]; w = strchr(w + 1, ' ')) {
		*w = '\0';
		argv[argc++] = w + 1;
	}

	struct opt_parser p = opt_parser(groups, argc, argv);
	p.refused = (const struct opt_refusal *const[]){ refused, more_refused, NULL };
	size_t n = 0;
	for (int id; (id = opt_next(&p)) != OPT_END && n < sizeof(got);) {
		const char *space = n ? " " : "";
		if (id == OPT_ERROR)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s!%s", space, p.error);
		else if (id == OPT_OPERAND)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s<%s>%s", space, p.arg,
					      p.ended ? "after" : "");
		else
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%d%s%s", space, id,
					      p.arg ? "=" : "", p.arg ? p.arg : "");
	}
	tap_str(got, want, __FILE__, __LINE__, line);
}

static void suggests(const char *word, const char *want)
{
	struct suggestion s = suggestion_for(word, strlen(word));
	static const char *const candidates[] = { "flat", "graph", "lines", "annotate", "info" };
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++)
		suggestion_try(&s, candidates[i]);
	tap_str(s.best ? s.best : "none", want, __FILE__, __LINE__, word);
}

int main(void)
{
	parses("-a", "1");
	parses("-aa", "1 1");
	parses("-ao file", "1 2=file");
	parses("-aofile", "1 2=file");
	parses("-o file", "2=file");
	parses("-o -a", "2=-a");
	parses("-Sx", "3=x");
	parses("-S x", "3 <x>");
	parses("-x 5 -x5", "6=5 6=5");
	parses("--all --output=f --output f", "1 2=f 2=f");
	parses("--output=", "2=");
	parses("--style --style=x --style x", "3 3=x 3 <x>");
	parses("--out=f --st", "2=f 3");
	parses("--forc --form=csv", "5 4=csv");
	parses("one -a two", "<one> 1 <two>");
	parses("- one", "<-> <one>");
	parses("-a -- -a --all", "1 <-a>after <--all>after");
	parses("-- --", "<-->after");
	parses("-a --rest -a --all", "1 9 <-a>after <--all>after");
	parses("--rest -- -a", "9 <-->after <-a>after");

	parses("-g fp -gauto -g", "7=fp 7=auto 7");
	parses("-g prog -a", "7 <prog> 1");
	parses("-g -a", "7 1");
	parses("--chains fp --chains", "7=fp 7");
	parses("-G x -G", "8=x 8");
	parses("-r -a", "!option '-r' is not supported here: do this 1");
	parses("--refuse=1 --all-of-it", "!option '--refuse' is not supported here: do this "
					 "!option '--all-of-it' is not supported here: do that");
	parses("-q", "!option '-q' is not supported here: do something else");
	parses("--refus", "!unknown option '--refus': for --refuse, do this");

	parses("-z -a", "!unknown option '-z' 1");
	parses("-az -a", "1 !unknown option '-z' 1");
	parses("--al=1", "!option '--all' takes no argument");
	parses("-o", "!option '-o' needs an argument: FILE");
	parses("--output", "!option '--output' needs an argument: FILE");
	parses("--out -a", "!'--out' is short for '--output', which needs an argument: FILE 1");
	parses("--out=-a --out - --output -a", "2=-a 2=- 2=-a");
	parses("--fo", "!'--fo' is short for several options: --format --force");
	parses("--outptu=x", "!unknown option '--outptu': did you mean --output?");
	parses("--zebra", "!unknown option '--zebra'");
	parses("--format=xml", "!--format: unknown value 'xml'; valid: text json csv");
	parses("--format=tex", "!--format: unknown value 'tex'; valid: text json csv");
	parses("--format=", "!--format: unknown value ''; valid: text json csv");

	test_fields();
	suggests("falt", "flat");
	suggests("flta", "flat");
	suggests("grap", "graph");
	suggests("anotate", "annotate");
	suggests("ino", "info");
	suggests("zebra", "none");
	suggests("", "none");
	return DONE();
}
