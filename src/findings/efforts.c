/* efforts.c - the functions of each effort, by name. */
#include "findings/efforts.h"

#include <string.h>

static const struct {
	const char *kind, *words;
	bool is_kernel;
	const char *names[24]; /* '*' at the end: any rest */
} efforts[N_EFFORTS] = {
	[EFFORT_ALLOCATOR] = { "allocator",
			       "allocating and freeing memory takes",
			       false,
			       { "malloc",
				 "calloc",
				 "realloc",
				 "free",
				 "cfree",
				 "posix_memalign",
				 "aligned_alloc",
				 "memalign",
				 "operator new*",
				 "operator delete*",
				 "_int_malloc",
				 "_int_free*",
				 "_int_realloc",
				 "malloc_consolidate",
				 "__libc_malloc",
				 "__libc_free",
				 "__rust_alloc*",
				 "__rust_realloc",
				 "__rust_dealloc",
				 "__rdl_*",
				 "runtime.mallocgc*",
				 "runtime.newobject",
				 "runtime.growslice" } },
	[EFFORT_COPYING] = { "copying",
			     "copying memory takes",
			     false,
			     { "memcpy", "memmove", "mempcpy", "__memcpy_*", "__memmove_*",
			       "__mempcpy_*", "runtime.memmove" } },
	[EFFORT_PAGE_FAULTS] = { "page-faults",
				 "page faults take",
				 true,
				 { "asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault",
				   "handle_mm_fault", "do_page_fault", "do_mem_abort",
				   "do_translation_fault" } },
	[EFFORT_READS_WRITES] = { "reads-writes",
				  "system calls that read and write take",
				  true,
				  { "ksys_read", "ksys_write", "ksys_pread64", "ksys_pwrite64",
				    "__x64_sys_read*", "__x64_sys_write*", "__x64_sys_pread*",
				    "__x64_sys_pwrite*", "__arm64_sys_read*", "__arm64_sys_write*",
				    "vfs_read", "vfs_write", "do_readv", "do_writev" } },
	[EFFORT_EXCEPTIONS] = { "exceptions",
				"throwing and catching exceptions takes",
				false,
				{ "_Unwind_RaiseException", "_Unwind_Resume",
				  "_Unwind_Resume_or_Rethrow", "__cxa_throw", "__cxa_begin_catch",
				  "__cxa_end_catch", "__cxa_rethrow", "_Unwind_Find_FDE" } },
	[EFFORT_LOADER] = { "loader",
			    "loading and linking libraries takes",
			    false,
			    { "_dl_relocate_object*", "_dl_map_object*", "_dl_main", "dl_main",
			      "_dl_start*", "_dl_sysdep_start", "_dl_runtime_resolve*", "_dl_fixup",
			      "dlopen*", "_dl_open", "dl_open_worker*", "_dl_lookup_symbol_x" } },
	[EFFORT_LOCKS] = { "locks",
			   "taking and releasing locks takes",
			   false,
			   { "pthread_mutex_lock", "pthread_mutex_unlock", "__pthread_mutex_*",
			     "___pthread_mutex_*", "pthread_rwlock_*", "___pthread_rwlock_*",
			     "__lll_lock_*", "pthread_spin_lock" } },
};

static bool fits(const char *pattern, const char *name)
{
	if (*pattern != *name) /* nearly always: that is tested for every function */
		return false;
	size_t n = strlen(pattern);
	bool is_open = pattern[n - 1] == '*';

	return is_open ? !strncmp(name, pattern, n - 1) : !strcmp(name, pattern);
}

enum effort effort_of(const char *name, bool is_kernel)
{
	for (enum effort e = 0; e < N_EFFORTS; e++)
		for (size_t i = 0; efforts[e].is_kernel == is_kernel && efforts[e].names[i]; i++)
			if (fits(efforts[e].names[i], name))
				return e;
	return N_EFFORTS;
}

const char *effort_kind(enum effort effort) { return efforts[effort].kind; }
const char *effort_words(enum effort effort) { return efforts[effort].words; }
