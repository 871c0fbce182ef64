/* kin_mpi.c - kin-mpi: reduces the recordings of a job's ranks inside the job.
 *
 * Each process sums up its own files, one rank after another. Then the sums go up a binomial tree:
 * in each round half of the remaining processes send their sums to the other half, which merge them
 * with theirs. A process never holds more than two sums, and the size of a sum depends on the
 * program and not on the job. The result is what "kin merge --sum-ranks" of all files writes. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kin/kin.h"

enum { OK, INCOMPLETE, USAGE }; /* exit status */
enum { TAG_SIZE = 1, TAG_BYTES };
enum { PIECE = 1 << 28 }; /* bytes of a message: MPI counts with int */

static const char help[] =
	"Usage: mpirun -n N kin-mpi reduce [-o FILE] [DATA]...\n"
	"Reduce the recordings of the ranks of a job to one, inside the job.\n"
	"\n"
	"mpirun -n N kin record ./app leaves a file for each rank. kin-mpi reduce, started in the\n"
	"same way, sums them up by a tree: one .kin with the sum of all stacks and calls, and of "
	"each\n"
	"function and each call the least, the most, mean and deviation over ranks, and on which\n"
	"rank. kin imbalance shows that; all other reports show the sum. It is what kin merge\n"
	"--sum-ranks writes of the same files, byte for byte.\n"
	"\n"
	"DATA is files that all processes see, which are divided among them; or one name with %r,\n"
	"the rank of each process. Without DATA each process reduces profile.%r.kin or kin.%r.kin\n"
	"in its working directory: no file has to be seen by another node. Files that other\n"
	"processes of the rank left beside it, as profile.%r.PID.kin, are reduced with it.\n"
	"\n"
	"  -o, --output=FILE  write to FILE instead of job.kin\n"
	"  -q, --quiet        print nothing if all went well\n"
	"  -h, --help         print this help\n"
	"  -V, --version      print the version\n"
	"\n"
	"What is missing or damaged, or of a rank that died, is said; the rest is reduced. Exit\n"
	"status: 0 if all is in FILE, 1 if not, 2 if the command line makes no sense.\n"
	"\n"
	"  mpirun -n 64 kin record ./app && mpirun -n 64 kin-mpi reduce && kin imbalance job.kin\n";

struct reduction {
	int process, processes;
	const char *output;
	bool quiet, incomplete;
	char folder[4096]; /* this process's own, for sums */
	char *sum, *other; /* files in it: the sum so far, and the one to be added */
	bool has_sum;
};

__attribute__((format(printf, 2, 3))) static void say(const struct reduction *r, const char *fmt,
						      ...)
{
	char text[4096];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "kin-mpi: process %d: %s\n", r->process, text);
}

static void complain(struct reduction *r, struct kin_error *err)
{
	if (!err)
		return;
	say(r, "%s", kin_error_message(err));
	kin_error_free(err);
	r->incomplete = true;
}

/* ---- sums ---- */

/* Sums up the files of `paths` into the file `to`. Files that cannot be read are reported and left
 * out. */
static void sum_up(struct reduction *r, const char *const *paths, size_t n, const char *to)
{
	const struct kin_open_opts opts = {
		.size = sizeof(opts), .executable = "", .for_writing = true, .sum_ranks = true
	};
	struct kin_profile *p = NULL;
	complain(r, kin_profile_open(paths, n, &opts, &p));
	if (!p)
		return;
	struct kin_error *err = kin_profile_write(p, to);
	kin_profile_free(p);
	complain(r, err);
	r->has_sum |= !err;
}

/* Adds the sum in r->other to the sum so far. */
static void add_sum(struct reduction *r)
{
	if (!r->has_sum) {
		if (rename(r->other, r->sum))
			say(r, "%s: %s", r->sum, strerror(errno));
		else
			r->has_sum = true;
		return;
	}
	const char *const both[] = { r->sum, r->other };
	sum_up(r, both, 2, r->sum);
}

/* ---- input files ---- */

struct rank_input {
	char *path;
	struct kin_rank rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank_input *x = a, *y = b;
	if (x->rank.rank != y->rank.rank)
		return x->rank.rank < y->rank.rank ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Adds f to *files, which has n entries. Returns the new number. */
static size_t add_input(struct rank_input **files, size_t n, struct rank_input f)
{
	struct rank_input *more = realloc(*files, (n + 1) * sizeof(*more));
	if (!more) /* the other processes would wait forever */
		MPI_Abort(MPI_COMM_WORLD, INCOMPLETE);
	*files = more;
	more[n] = f;
	return n + 1;
}

static struct rank_input input_of(char *path)
{
	struct rank_input f = { .path = path };
	if (!path || !kin_rank_of(path, &f.rank))
		f.rank.rank = 0; /* reading it reports why */
	return f;
}

/* Reports a file of another job: older files of a larger job may be among those of this one. */
static void check_job(struct reduction *r, const struct rank_input *f, const struct kin_rank *job)
{
	if (!f->rank.rank || !job->rank ||
	    (f->rank.ranks == job->ranks && !strcmp(f->rank.job, job->job)))
		return;
	say(r, "%s: of another job than the file of rank %u, but counted as its rank %u", f->path,
	    job->rank - 1, f->rank.rank - 1);
	r->incomplete = true;
}

/* Merges the files of one rank before they are compared with other ranks. */
static void take_group(struct reduction *r, const struct rank_input *files, size_t n)
{
	const char **paths = calloc(n, sizeof(*paths));
	for (size_t i = 0; paths && i < n; i++)
		paths[i] = files[i].path;
	if (!paths) {
		say(r, "out of memory");
		r->incomplete = true;
		return;
	}
	bool had = r->has_sum;
	r->has_sum = false;
	sum_up(r, paths, n, had ? r->other : r->sum);
	bool made = r->has_sum;
	r->has_sum |= had;
	if (had && made)
		add_sum(r);
	free(paths);
}

/* Takes this process's part of the ranks. The division depends on all headers, so each process
 * reads all of them. */
static void take_files(struct reduction *r, char **paths, size_t n)
{
	struct rank_input *files = calloc(n + 1, sizeof(*files));
	if (!files) {
		say(r, "out of memory");
		r->incomplete = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		files[i] = input_of(paths[i]);
	qsort(files, n, sizeof(*files), by_rank);
	size_t known = 0;
	while (known < n && !files[known].rank.rank)
		known++;
	for (size_t i = known; i < n && !r->process; i++)
		check_job(r, &files[i], &files[known].rank);
	size_t groups = 0, group = 0, next;
	for (size_t i = 0; i < n; i++)
		groups += !i || !files[i].rank.rank || files[i].rank.rank != files[i - 1].rank.rank;
	size_t first = groups * (size_t)r->process / (size_t)r->processes;
	size_t behind = groups * ((size_t)r->process + 1) / (size_t)r->processes;
	for (size_t i = 0; i < n; i = next, group++) {
		for (next = i + 1;
		     next < n && files[i].rank.rank && files[next].rank.rank == files[i].rank.rank;)
			next++;
		if (group >= first && group < behind)
			take_group(r, files + i, next - i);
	}
	free(files);
}

/* The first process whose file has the same rank as ours; `rank`: rank + 1, 0: none. */
static int first_of_rank(const struct reduction *r, uint32_t rank)
{
	uint32_t *all = calloc((size_t)r->processes, sizeof(*all));
	int first = 0;
	if (!all) /* the other processes would wait forever */
		MPI_Abort(MPI_COMM_WORLD, INCOMPLETE);
	MPI_Allgather(&rank, 1, MPI_UINT32_T, all, 1, MPI_UINT32_T, MPI_COMM_WORLD);
	while (first < r->process && (!rank || all[first] != rank))
		first++;
	free(all);
	return first;
}

/* Adds the files of other processes of f's rank: "profile.3.4711.kin" beside "profile.3.kin". */
static size_t add_processes(struct rank_input **files, size_t n, struct rank_input f)
{
	const char *slash = strrchr(f.path, '/'), *name = slash ? slash + 1 : f.path;
	size_t folder = (size_t)(name - f.path), stem = strlen(name) - strlen(".kin");
	char *in = strndup(f.path, folder);
	DIR *dir = in && strlen(name) > 4 && !strcmp(name + stem, ".kin") && f.rank.rank
			   ? opendir(folder ? in : ".")
			   : NULL;
	for (const struct dirent *d; dir && (d = readdir(dir));) {
		size_t k = strlen(d->d_name);
		struct rank_input other = { 0 };
		if (k < stem + 6 || strncmp(d->d_name, name, stem + 1) != 0 ||
		    strcmp(d->d_name + k - 4, ".kin") != 0 ||
		    asprintf(&other.path, "%s%s", in, d->d_name) < 0)
			continue;
		if (kin_rank_of(other.path, &other.rank) && other.rank.rank == f.rank.rank &&
		    other.rank.ranks == f.rank.ranks && !strcmp(other.rank.job, f.rank.job))
			n = add_input(files, n, other);
		else
			free(other.path);
	}
	if (dir)
		closedir(dir);
	free(in);
	return n;
}

/* Takes a file that belongs to this process alone; NULL: there is none. To be called by all
 * processes. */
static void take_alone(struct reduction *r, char *path)
{
	struct rank_input f = input_of(path), *files = NULL;
	int first = first_of_rank(r, f.rank.rank);
	struct kin_rank job = f.rank;
	MPI_Bcast(&job, sizeof(job), MPI_BYTE, 0, MPI_COMM_WORLD);
	check_job(r, &f, &job);
	if (path && first == r->process) {
		size_t n = add_input(&files, 0, f);
		n = add_processes(&files, n, f);
		qsort(files, n, sizeof(*files), by_rank);
		take_group(r, files, n);
		for (size_t i = 0; i < n; i++)
			if (files[i].path != path)
				free(files[i].path);
		free(files);
	} else if (path) {
		say(r, "%s: of rank %u, as the file of process %d: it is left out", path,
		    f.rank.rank - 1, first);
		r->incomplete = true;
	}
}

static char *with_rank(const char *name, int rank)
{
	const char *at = strstr(name, "%r");
	char *path = NULL;
	if (asprintf(&path, "%.*s%d%s", (int)(at - name), name, rank, at + 2) < 0)
		return NULL;
	return path;
}

/* Takes the file of this process's rank; if there are several names, the first that exists. */
static void take_own(struct reduction *r, const char *const *names, size_t n)
{
	char *path = NULL;
	for (size_t i = 0; i < n; i++) {
		free(path);
		path = with_rank(names[i], r->process);
		if (path && !access(path, F_OK))
			break;
		if (i + 1 < n)
			continue;
		say(r, "there is no %s%s%s for this rank: it is left out", names[0],
		    n > 1 ? ", nor " : "", n > 1 ? names[1] : "");
		r->incomplete = true;
		free(path);
		path = NULL;
	}
	take_alone(r, path);
	free(path);
}

/* ---- the tree ---- */

static void send_sum(struct reduction *r, int to)
{
	struct stat st = { 0 };
	FILE *f = r->has_sum ? fopen(r->sum, "re") : NULL;
	if (f && fstat(fileno(f), &st))
		st.st_size = 0;
	uint64_t size = f ? (uint64_t)st.st_size : 0;
	char *bytes = size ? malloc(size) : NULL;
	if (r->has_sum && (!bytes || fread(bytes, 1, size, f) != size)) {
		say(r, "%s: cannot be read: the sum of this process and those below it is missing",
		    r->sum);
		r->incomplete = true;
		size = 0;
	}
	if (f)
		fclose(f);
	MPI_Send(&size, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
	for (uint64_t at = 0; at < size; at += PIECE)
		MPI_Send(bytes + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, to,
			 TAG_BYTES, MPI_COMM_WORLD);
	free(bytes);
}

static void receive_sum(struct reduction *r, int from)
{
	uint64_t size = 0;
	MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!size)
		return;
	size_t room = size < PIECE ? size : PIECE;
	char *bytes = malloc(room);
	FILE *f = fopen(r->other, "we");
	if (!bytes) /* the sender cannot be told otherwise */
		MPI_Abort(MPI_COMM_WORLD, INCOMPLETE);
	bool good = f;
	for (uint64_t at = 0; at < size; at += room) {
		size_t n = size - at < room ? size - at : room;
		MPI_Recv(bytes, (int)n, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		good = good && fwrite(bytes, 1, n, f) == n;
	}
	good = f && !fclose(f) && good;
	free(bytes);
	if (good) {
		add_sum(r);
		return;
	}
	say(r,
	    "%s: cannot be written (%s): the sum of process %d and those below it is missing; "
	    "TMPDIR names another folder",
	    r->other, strerror(errno), from);
	r->incomplete = true;
}

static void reduce(struct reduction *r)
{
	for (int step = 1; step < r->processes; step *= 2) {
		if (r->process % (2 * step)) {
			send_sum(r, r->process - step);
			return;
		}
		if (r->process + step < r->processes)
			receive_sum(r, r->process + step);
	}
}

/* ---- the result ---- */

static void write_result(struct reduction *r)
{
	const struct kin_open_opts opts = {
		.size = sizeof(opts), .executable = "", .for_writing = true, .sum_ranks = true
	};
	struct kin_profile *p = NULL;
	const char *sum = r->sum;
	if (!r->has_sum) {
		fprintf(stderr, "kin-mpi: there is nothing to reduce: %s is not written\n",
			r->output);
		r->incomplete = true;
		return;
	}
	complain(r, kin_profile_open(&sum, 1, &opts, &p));
	if (!p)
		return;
	const char *gap;
	for (size_t i = 0; (gap = kin_profile_remark(p, KIN_REMARK_GAP, &i));) {
		fprintf(stderr, "kin-mpi: %s\n", gap);
		r->incomplete = true;
	}
	bool of_ranks = kin_profile_n_ranks(p) > 0;
	struct kin_error *err = kin_profile_write(p, r->output);
	kin_profile_free(p);
	if (!of_ranks) {
		fprintf(stderr,
			"kin-mpi: no file belongs to a rank of a parallel job: %s cannot "
			"tell ranks apart\n",
			r->output);
		r->incomplete = true;
	} else if (!err && !r->quiet)
		fprintf(stderr, "kin-mpi: %s: kin imbalance %s shows how ranks differ\n", r->output,
			r->output);
	complain(r, err);
}

static bool make_folder(struct reduction *r)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(r->folder, sizeof(r->folder), "%s/kin-mpi.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->folder)) {
		say(r, "%s: %s: TMPDIR names another folder", r->folder, strerror(errno));
		return false;
	}
	return asprintf(&r->sum, "%s/sum.kin", r->folder) >= 0 &&
	       asprintf(&r->other, "%s/other.kin", r->folder) >= 0;
}

/* Async-signal-safe. */
static void remove_files(const struct reduction *r)
{
	unlink(r->sum);
	unlink(r->other);
	rmdir(r->folder);
}

static void remove_folder(struct reduction *r)
{
	remove_files(r);
	free(r->sum);
	free(r->other);
}

static const struct reduction *to_remove; /* for the handler, which has no argument */

static void end_early(int number)
{
	remove_files(to_remove);
	raise(number); /* once this returns, with its usual effect */
}

/* Launchers that are stopped end their processes by these signals. */
static void catch_signals(const struct reduction *r)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction a = { .sa_handler = end_early, .sa_flags = SA_RESETHAND };
	to_remove = r;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], r ? &a : &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

/* Whether the result would replace an input. Only the writing process can tell: other nodes may
 * have files of their own by that name. */
static bool replaces_input(const struct reduction *r, char **data, int n)
{
	struct kin_rank rank;
	struct stat to, from;
	bool is_input = false;
	if (r->process || stat(r->output, &to))
		return false;
	for (int i = 0; i < n; i++)
		is_input |= !stat(data[i], &from) && from.st_dev == to.st_dev &&
			    from.st_ino == to.st_ino;
	if (kin_rank_of(r->output, &rank) && rank.rank)
		fprintf(stderr, "kin-mpi: -o %s would replace the recording of rank %u\n",
			r->output, rank.rank - 1);
	else if (is_input)
		fprintf(stderr, "kin-mpi: -o %s would replace one of the files to reduce\n",
			r->output);
	else
		return false;
	return true;
}

static int run_reduction(struct reduction *r, char **data, int n)
{
	static const char *const usual[] = { "profile.%r.kin", "kin.%r.kin" };
	int replaces = replaces_input(r, data, n);
	MPI_Bcast(&replaces, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (replaces)
		return USAGE;
	if (!make_folder(r))
		MPI_Abort(MPI_COMM_WORLD, INCOMPLETE);
	catch_signals(r);
	if (!n)
		take_own(r, usual, 2);
	else if (n == 1 && strstr(data[0], "%r"))
		take_own(r, (const char *const *)data, 1);
	else
		take_files(r, data, (size_t)n);
	reduce(r);
	if (!r->process)
		write_result(r);
	catch_signals(NULL);
	remove_folder(r);
	int mine = r->incomplete ? INCOMPLETE : OK, all = OK;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

/* ---- the command line ---- */

static int wrong(const struct reduction *r, const char *why)
{
	if (!r->process)
		fprintf(stderr, "kin-mpi: %s; kin-mpi --help\n", why);
	return USAGE;
}

static int parse(struct reduction *r, int argc, char **argv)
{
	static const struct option options[] = { { "output", required_argument, NULL, 'o' },
						 { "quiet", no_argument, NULL, 'q' },
						 { "help", no_argument, NULL, 'h' },
						 { "version", no_argument, NULL, 'V' },
						 { 0 } };
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, "o:qhV", options, NULL)) != -1;) {
		switch (c) {
		case 'o':
			r->output = optarg;
			break;
		case 'q':
			r->quiet = true;
			break;
		case 'h':
		case 'V':
			if (!r->process)
				fputs(c == 'h' ? help : "kin-mpi " KIN_VERSION "\n", stdout);
			return OK;
		default:
			return wrong(r, "unknown option, or one without its value");
		}
	}
	if (optind == argc || strcmp(argv[optind], "reduce") != 0)
		return wrong(r, "what is to be done? There is one command: reduce");
	size_t n = strlen(r->output);
	if (n < 4 || strcmp(r->output + n - 4, ".kin") != 0)
		return wrong(r, "-o takes a name that ends in .kin");
	return run_reduction(r, argv + optind + 1, argc - optind - 1);
}

int main(int argc, char **argv)
{
	struct reduction r = { .output = "job.kin" };
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &r.process);
	MPI_Comm_size(MPI_COMM_WORLD, &r.processes);
	int status = parse(&r, argc, argv);
	MPI_Finalize();
	return status;
}
