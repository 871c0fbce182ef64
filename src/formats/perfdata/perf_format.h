/* perf_format.h - numbers of the perf.data format: the kernel's include/uapi/linux/perf_event.h and
 * perf's own records. The system's header is not used: files may be newer, and come from other
 * systems. */
#ifndef INPUT_PERF_FORMAT_H
#define INPUT_PERF_FORMAT_H

#include <stdint.h>

enum { PERF_HEADER = 104, PERF_PIPE_HEADER = 16, PERF_RECORD_HEADER = 8, PERF_ATTR_MIN = 64 };

/* perf_event_attr.sample_type */
#define PERF_IP             (UINT64_C(1) << 0)
#define PERF_TID            (UINT64_C(1) << 1)
#define PERF_TIME           (UINT64_C(1) << 2)
#define PERF_ADDR           (UINT64_C(1) << 3)
#define PERF_READ           (UINT64_C(1) << 4)
#define PERF_CALLCHAIN      (UINT64_C(1) << 5)
#define PERF_ID             (UINT64_C(1) << 6)
#define PERF_CPU            (UINT64_C(1) << 7)
#define PERF_PERIOD         (UINT64_C(1) << 8)
#define PERF_STREAM_ID      (UINT64_C(1) << 9)
#define PERF_RAW            (UINT64_C(1) << 10)
#define PERF_BRANCH_STACK   (UINT64_C(1) << 11)
#define PERF_REGS_USER      (UINT64_C(1) << 12)
#define PERF_STACK_USER     (UINT64_C(1) << 13)
#define PERF_WEIGHT         (UINT64_C(1) << 14)
#define PERF_DATA_SRC       (UINT64_C(1) << 15)
#define PERF_IDENTIFIER     (UINT64_C(1) << 16)
#define PERF_TRANSACTION    (UINT64_C(1) << 17)
#define PERF_REGS_INTR      (UINT64_C(1) << 18)
#define PERF_PHYS_ADDR      (UINT64_C(1) << 19)
#define PERF_AUX            (UINT64_C(1) << 20)
#define PERF_CGROUP         (UINT64_C(1) << 21)
#define PERF_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define PERF_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define PERF_WEIGHT_STRUCT  (UINT64_C(1) << 24)
#define PERF_SAMPLE_FIELDS  ((UINT64_C(1) << 25) - 1) /* all of them */

/* perf_event_attr.read_format */
#define PERF_READ_ENABLED (UINT64_C(1) << 0)
#define PERF_READ_RUNNING (UINT64_C(1) << 1)
#define PERF_READ_ID      (UINT64_C(1) << 2)
#define PERF_READ_GROUP   (UINT64_C(1) << 3)
#define PERF_READ_LOST    (UINT64_C(1) << 4)

/* perf_event_attr.branch_sample_type */
#define PERF_BRANCH_CALL_STACK (UINT64_C(1) << 11)
#define PERF_BRANCH_HW_INDEX   (UINT64_C(1) << 17)
#define PERF_BRANCH_COUNTERS   (UINT64_C(1) << 19)

/* Bits of perf_event_attr, from the first on. */
#define PERF_FLAG_EXCLUDE_USER   (UINT64_C(1) << 4)
#define PERF_FLAG_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define PERF_FLAG_EXCLUDE_HV     (UINT64_C(1) << 6)
#define PERF_FLAG_MMAP           (UINT64_C(1) << 8)
#define PERF_FLAG_COMM           (UINT64_C(1) << 9)
#define PERF_FLAG_FREQ           (UINT64_C(1) << 10)
#define PERF_FLAG_SAMPLE_ID_ALL  (UINT64_C(1) << 18)
#define PERF_FLAG_MMAP2          (UINT64_C(1) << 23)
#define PERF_FLAG_USE_CLOCKID    (UINT64_C(1) << 25)
#define PERF_FLAG_SWITCHES       (UINT64_C(1) << 26)

enum perf_event_type {
	PERF_HARDWARE,
	PERF_SOFTWARE,
	PERF_TRACEPOINT,
	PERF_CACHE,
	PERF_RAW_EVENT,
	PERF_BREAKPOINT
};
enum { PERF_CPU_CLOCK = 0, PERF_TASK_CLOCK = 1, PERF_DUMMY = 9, PERF_BPF_OUTPUT = 10 };

enum perf_record_type {
	PERF_R_MMAP = 1,
	PERF_R_LOST = 2,
	PERF_R_COMM = 3,
	PERF_R_EXIT = 4,
	PERF_R_THROTTLE = 5,
	PERF_R_UNTHROTTLE = 6,
	PERF_R_FORK = 7,
	PERF_R_READ = 8,
	PERF_R_SAMPLE = 9,
	PERF_R_MMAP2 = 10,
	PERF_R_AUX = 11,
	PERF_R_ITRACE_START = 12,
	PERF_R_LOST_SAMPLES = 13,
	PERF_R_SWITCH = 14,
	PERF_R_SWITCH_CPU_WIDE = 15,
	PERF_R_NAMESPACES = 16,
	PERF_R_KSYMBOL = 17,
	PERF_R_BPF_EVENT = 18,
	PERF_R_CGROUP = 19,
	PERF_R_TEXT_POKE = 20,
	PERF_R_AUX_OUTPUT_HW_ID = 21,
	PERF_R_CALLCHAIN_DEFERRED = 22,
	/* from here on added by perf itself, not in order of time */
	PERF_R_USER = 64,
	PERF_R_ATTR = 64,
	PERF_R_TRACING_DATA = 66,
	PERF_R_BUILD_ID = 67,
	PERF_R_FINISHED_ROUND = 68,
	PERF_R_AUXTRACE = 71,
	PERF_R_EVENT_UPDATE = 78,
	PERF_R_FEATURE = 80,
	PERF_R_COMPRESSED = 81,
	PERF_R_COMPRESSED2 = 83,
	PERF_R_LAST = 86, /* of those that perf has so far */
	/* Android's simpleperf: sizes in records above this one have 32 bits */
	PERF_R_SIMPLEPERF = 32768,
};

/* misc of a record's header */
enum {
	PERF_MODE_MASK = 7,
	PERF_MODE_KERNEL = 1,
	PERF_MODE_USER = 2,
	PERF_MODE_HYPERVISOR = 3,
	PERF_MODE_GUEST_KERNEL = 4,
	PERF_MODE_GUEST_USER = 5,

	PERF_MISC_COMM_EXEC = 1 << 13,
	PERF_MISC_FORK_EXEC = 1 << 13, /* made up by perf: mappings follow, none are inherited */
	PERF_MISC_MMAP_DATA = 1 << 13,
	PERF_MISC_SWITCH_OUT = 1 << 13,
	PERF_MISC_SWITCH_PREEMPT = 1 << 14,
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_BUILD_ID_SIZE = 1 << 15,
};

/* Markers in a call chain, which give the mode of the addresses after them. */
#define PERF_CONTEXT_MAX           ((uint64_t)-4095)
#define PERF_CONTEXT_HV            ((uint64_t)-32)
#define PERF_CONTEXT_KERNEL        ((uint64_t)-128)
#define PERF_CONTEXT_USER          ((uint64_t)-512)
#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define PERF_CONTEXT_GUEST         ((uint64_t)-2048)
#define PERF_CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define PERF_CONTEXT_GUEST_USER    ((uint64_t)-2560)

enum perf_feature {
	PERF_F_TRACING_DATA = 1,
	PERF_F_BUILD_ID = 2,
	PERF_F_HOSTNAME = 3,
	PERF_F_OSRELEASE = 4,
	PERF_F_VERSION = 5,
	PERF_F_ARCH = 6,
	PERF_F_NRCPUS = 7,
	PERF_F_CPUDESC = 8,
	PERF_F_CPUID = 9,
	PERF_F_TOTAL_MEM = 10,
	PERF_F_CMDLINE = 11,
	PERF_F_EVENT_DESC = 12,
	PERF_F_CPU_TOPOLOGY = 13,
	PERF_F_NUMA_TOPOLOGY = 14,
	PERF_F_BRANCH_STACK = 15,
	PERF_F_PMU_MAPPINGS = 16,
	PERF_F_GROUP_DESC = 17,
	PERF_F_AUXTRACE = 18,
	PERF_F_STAT = 19,
	PERF_F_CACHE = 20,
	PERF_F_SAMPLE_TIME = 21,
	PERF_F_MEM_TOPOLOGY = 22,
	PERF_F_CLOCKID = 23,
	PERF_F_DIR_FORMAT = 24,
	PERF_F_COMPRESSED = 27,
	PERF_F_CLOCK_DATA = 29,
	PERF_F_FILE = 128, /* simpleperf's, as the next one */
	PERF_F_FILE2 = 132,
	PERF_FEATURES = 256,
};

#endif
