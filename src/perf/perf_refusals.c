/* perf_refusals.c - options of perf that kin lacks, by command, each with its replacement. */
#include "perf/perf_refusals.h"

#define OWN_PROGRAMS  "--format=json is for programs of one's own"
#define NO_FILTERS    "there are no filters to load: " OWN_PROGRAMS
#define NO_TRACES     "traces by the hardware are not decoded: perf script prints them"
#define NO_GUESTS     "programs of guests are not looked for: perf script does that"
#define OTHER_RECORDS "kin report --stats counts the records; perf script prints them"
#define ONE_PLACE     "modules of the kernel are looked for where their names are"
#define RAW_RECORDS   "perf report -D prints the records of a perf.data"

/* What perf's commands that read recordings have in common. */
static const struct opt_refusal of_recordings[] = {
	{ 0, "vmlinux",
	  "--kallsyms FILE names the kernel's symbols; its debug file is found by itself" },
	{ 0, "itrace",
	  "traces by the hardware are not decoded: perf inject --itrace makes samples of them" },
	{ 0, "stitch-lbr", "stacks by LBR are as deep as the CPU's record" },
	{ 0, "switch-on", "--time START,STOP shows a part of the recording" },
	{ 0, "switch-off", "--time START,STOP shows a part of the recording" },
	{ 0, "show-on-off-events", "--time START,STOP shows a part of the recording" },
	{ 0, "full-source-path", "kin lines has the whole paths of sources" },
	{ 0, "demangle-kernel", "names of the kernel are of C, or of Rust and shown as such" },
	{ 0 },
};

static const struct opt_refusal of_report[] = {
	{ 'D', "dump-raw-trace",
	  "kin script prints samples, perf report -D the records of a perf.data" },
	{ 'T', "threads",
	  "kin report -s tid has what each thread's samples stand for, kin info its CPU time" },
	{ 'M', "disassembler-style", "kin annotate --asm shows instructions" },
	{ 'm', "modules", "modules of the kernel are looked for where their names are" },
	{ 0, "ignore-vmlinux", "--debug-dir /nonexistent keeps debug files out" },
	{ 0, "asm-raw", "kin annotate --asm shows instructions" },
	{ 0, "source", "kin annotate --asm --source shows instructions among their source lines" },
	{ 0, "objdump", "kin annotate --asm disassembles by itself" },
	{ 0, "prefix", "kin annotate -I DIRECTORY says where sources are" },
	{ 0, "prefix-strip", "kin annotate -I DIRECTORY says where sources are" },
	{ 0, "percent-type",
	  "kin annotate --percent-type=local-period has shares of the function" },
	{ 0, "samples", "kin script -F +ip prints the samples of a row, with the same filters" },
	{ 0, "branch-history",
	  "branches are not joined with the callers: -b has them as rows, from and to" },
	{ 0, "total-cycles", "-b -s symbol_from,symbol_to,cycles has the cycles of branches" },
	{ 0, "raw-trace", "-s trace has the fields of trace points as the kernel prints them" },
	{ 0, "pretty", "it is for what perf report -T prints" },
	{ 0, "disable-order", "records are always put in the order of time" },
	{ 0, "show-ref-call-graph",
	  "events without stacks have none: record each with --call-graph" },
	{ 0, "group-sort-idx",
	  "-F says by which column rows are ordered; of a group the first decides" },
	{ 0, "skip-empty", "events without samples are left out always" },
	{ 0 },
};

static const struct opt_refusal of_script[] = {
	{ 'D', "dump-raw-trace", "perf script -D prints the records of a perf.data" },
	{ 'a', "all-cpus", "all samples are printed; -C NUMBERS shows those of some CPUs" },
	{ 'l', "list", "there are no scripts: --format=json is for programs of one's own" },
	{ 's', "script", "there are no scripts: --format=json is for programs of one's own" },
	{ 'g', "gen-script", "there are no scripts: --format=json is for programs of one's own" },
	{ 0, "dlfilter", NO_FILTERS },
	{ 0, "insn-trace", NO_TRACES },
	{ 0, "call-trace", NO_TRACES },
	{ 0, "call-ret-trace", NO_TRACES },
	{ 0, "show-task-events", "kin report --tasks has the tasks; perf script the records" },
	{ 0, "show-mmap-events", "kin report --mmaps has the mappings; perf script the records" },
	{ 0, "show-switch-events", "kin record --wall makes samples of switches" },
	{ 0, "show-lost-events", "kin info says how many were lost" },
	{ 0, "per-event-dump", "--event NAME -o FILE writes the samples of one event" },
	{ 'd', "debug-mode", "kin info checks what was recorded" },
	{ 'v', "verbose", "kin info says what can be known of the data" },
	{ 'L', "Latency", "there are no scripts: kin record --wall has the time off the CPU" },
	{ 0, "addr-range", "-S NAME has the samples of a function" },
	{ 0, "dlarg", NO_FILTERS },
	{ 0, "list-dlfilters", NO_FILTERS },
	{ 0, "dump-unsorted-raw-trace", "perf script -D prints the records of a perf.data" },
	{ 0, "graph-function", NO_TRACES },
	{ 0, "xed", NO_TRACES },
	{ 0, "guest-code", NO_GUESTS },
	{ 0, "guestkallsyms", NO_GUESTS },
	{ 0, "guestmodules", NO_GUESTS },
	{ 0, "guestmount", NO_GUESTS },
	{ 0, "guestvmlinux", NO_GUESTS },
	{ 0, "max-blocks", "instructions between branches are not printed: perf script has them" },
	{ 0, "show-bpf-events", OTHER_RECORDS },
	{ 0, "show-cgroup-events", OTHER_RECORDS },
	{ 0, "show-namespace-events", OTHER_RECORDS },
	{ 0, "show-round-events", OTHER_RECORDS },
	{ 0, "show-text-poke-events", OTHER_RECORDS },
	{ 0, "show-kernel-path", "kin info has the paths of all objects" },
	{ 0, "by",
	  "-F +tid has the thread of each sample; --thread, --comm, --object and --event select" },
	{ 0 },
};

static const struct opt_refusal of_annotate[] = {
	{ 'C', "cpu", "kin report -C NUMBERS has the samples of some CPUs" },
	{ 'D', "dump-raw-trace", RAW_RECORDS },
	{ 0, "force", "files of other users are read without it" },
	{ 0, "modules", ONE_PLACE },
	{ 'P', "full-paths", "kin lines has the whole paths of sources" },
	{ 'q', "quiet", "messages are on standard error: 2>/dev/null" },
	{ 'v', "verbose", "kin info says what can be known of the data" },
	{ 'k', "vmlinux", "the kernel's debug file is found by itself, or below --debug-dir" },
	{ 0, "asm-raw", "instructions are shown without their bytes: objdump -d prints those" },
	{ 0, "group", "--by event has a section for each event" },
	{ 0, "ignore-vmlinux", "--debug-dir /nonexistent keeps debug files out" },
	{ 0, "objdump", "--asm disassembles by itself" },
	{ 0, "prefix", "-I DIRECTORY says where sources are" },
	{ 0, "prefix-strip", "-I DIRECTORY says where sources are" },
	{ 0, "show-total-period", "-c all has what the samples stand for" },
	{ 0, "skip-missing", "--asm shows what has no source" },
	{ 0, "stdio2", "the text is printed as it is" },
	{ 0, "stdio-color", "--color WHEN" },
	{ 0, "tui", "kin browse is on the terminal: a shows the source" },
	{ 0, "gtk", "kin html makes a page for browsers" },
	{ 0 },
};

static const struct opt_refusal of_diff[] = {
	{ 'b', "baseline-only", "-s -before has first what was there before" },
	{ 'C', "comms", "--comm NAME compares the threads of that name" },
	{ 0, "compute", "the columns change and change_share say how much it is: -c all" },
	{ 0, "cpu", "kin report -C NUMBERS has the samples of some CPUs" },
	{ 0, "cycles-hist", "the cycles of branches are in kin report -b -s cycles" },
	{ 'D', "dump-raw-trace", RAW_RECORDS },
	{ 0, "force", "files of other users are read without it" },
	{ 'F', "formula", "the columns before and after are the times of each" },
	{ 0, "kallsyms", "names of the kernel are in recordings, or in /proc/kallsyms" },
	{ 0, "modules", ONE_PLACE },
	{ 0, "order", "-s COLUMN orders rows" },
	{ 'p', "period", "the columns before and after are the times of each" },
	{ 0, "percentage", "--shares compares shares of the totals" },
	{ 0, "pid", "--thread NUMBER compares one thread" },
	{ 'q', "quiet", "messages are on standard error: 2>/dev/null" },
	{ 0, "stream", "--inclusive compares functions with all that they call" },
	{ 'S', "symbols", "--format=csv and grep, or kin report -S of each" },
	{ 't', "field-separator", "--format=csv is for programs" },
	{ 'v', "verbose", "kin info says what can be known of the data" },
	{ 0 },
};

const struct opt_refusal *const annotate_refusals[] = { of_annotate, of_recordings, NULL };
const struct opt_refusal *const diff_refusals[] = { of_diff, of_recordings, NULL };
const struct opt_refusal *const report_refusals[] = { of_report, of_recordings, NULL };
const struct opt_refusal *const script_refusals[] = { of_script, of_recordings, NULL };
