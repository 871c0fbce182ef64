/* perf_features.c - what a file says about the recording, in sections after the data or in records
 * of a pipe. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/perf.h"

/* u32 size, then bytes padded with NULs. NULL if there is none. */
static const char *read_string(struct perf *p, struct bytes *b)
{
	uint32_t size = bytes_u32(b);
	struct bytes s = bytes_take(b, size);

	if (b->failed)
		return NULL;
	size_t n = strnlen((const char *)s.pos, bytes_left(&s));
	return arena_printf(&p->arena, "%.*s", (int)n, (const char *)s.pos);
}

static void read_build_ids(struct perf *p, struct bytes b)
{
	while (bytes_left(&b) >= PERF_RECORD_HEADER) {
		size_t size = perf_u16(p, b.pos + 6);
		if (size < PERF_RECORD_HEADER || size > bytes_left(&b))
			return;
		perf_build_id_record(p, bytes_take(&b, size));
	}
}

void perf_build_id_record(struct perf *p, struct bytes b)
{
	enum { PID = 4, ID = 24, SHA1 = 20 };

	if (bytes_left(&b) <= PERF_RECORD_HEADER + PID + ID)
		return;
	bool sized = perf_u16(p, b.pos + 4) & PERF_MISC_BUILD_ID_SIZE;
	const uint8_t *id = b.pos + PERF_RECORD_HEADER + PID;
	size_t size = sized && id[SHA1] <= SHA1 ? id[SHA1] : SHA1;
	b.pos += PERF_RECORD_HEADER + PID + ID;
	size_t n = strnlen((const char *)b.pos, bytes_left(&b));
	const char *path = arena_printf(&p->arena, "%.*s", (int)n, (const char *)b.pos);
	perf_object_add_build_id(p, path, id, size);
}

/* For each event: its attribute, the number of ids, its name, the ids. */
static void read_events(struct perf *p, struct bytes b)
{
	uint32_t n = bytes_u32(&b), attr_size = bytes_u32(&b);

	for (uint32_t i = 0; i < n && !b.failed && i < p->attrs.at.n; i++) {
		bytes_take(&b, attr_size);
		uint32_t n_ids = bytes_u32(&b);
		const char *name = read_string(p, &b);
		if (n_ids > bytes_left(&b) / 8)
			return;
		for (uint32_t k = 0; k < n_ids; k++)
			perf_attrs_add_id(p, bytes_u64(&b), i);
		if (name && *name)
			p->attrs.at.at[i].name = name;
	}
}

/* An event is in one group at most. */
static void read_groups(struct perf *p, struct bytes b)
{
	uint32_t n = bytes_u32(&b), end = 0;

	for (uint32_t i = 0; i < n && !b.failed; i++) {
		read_string(p, &b);
		uint32_t leader = bytes_u32(&b), members = bytes_u32(&b);
		if (b.failed || leader < end || leader >= p->attrs.at.n || members < 2 ||
		    members > p->attrs.at.n - leader)
			continue;
		end = leader + members;
		for (uint32_t k = 0; k < members; k++)
			p->attrs.at.at[leader + k].group = leader + 1;
	}
}

static void read_host(struct perf *p, struct bytes b)
{
	char here[256] = "";
	const char *host = read_string(p, &b);

	if (host && *host && !gethostname(here, sizeof(here) - 1))
		p->other_host = strcmp(host, here) != 0;
}

static void read_release(struct perf *p, struct bytes b)
{
	struct utsname here;
	const char *release = read_string(p, &b);

	p->own_kernel = release && !uname(&here) && !strcmp(release, here.release);
}

static void read_machine(struct perf *p, struct bytes b)
{
	const char *name = read_string(p, &b);

	if (name && strlen(name) < sizeof(p->machine_name))
		strcpy(p->machine_name, name);
}

/* u32 version, u32 clock; u64 time of day and u64 time of that clock at the same moment. */
static void read_clock(struct perf *p, struct bytes b)
{
	bytes_u64(&b);
	uint64_t day = bytes_u64(&b), clock = bytes_u64(&b);

	if (b.failed)
		return;
	p->source->has_day = true;
	p->source->day_ns = day - clock;
}

static void read_symbols(struct perf *p, struct bytes b, bool is_message)
{
	if (!perf_symbols_read(p, b, is_message))
		perf_unread(
			p, "names of functions are missing",
			err_new(KIN_ERROR_FORMAT, "%s: the list of functions is damaged", p->name));
}

void perf_feature(struct perf *p, unsigned feature, struct bytes b)
{
	switch (feature) {
	case PERF_F_BUILD_ID:
		read_build_ids(p, b);
		break;
	case PERF_F_TRACING_DATA:
		perf_traces_read(p, b);
		break;
	case PERF_F_HOSTNAME:
		read_host(p, b);
		break;
	case PERF_F_OSRELEASE:
		read_release(p, b);
		break;
	case PERF_F_ARCH:
		read_machine(p, b);
		break;
	case PERF_F_NRCPUS:
		p->n_cpus = bytes_u32(&b);
		break;
	case PERF_F_EVENT_DESC:
		read_events(p, b);
		break;
	case PERF_F_CPU_TOPOLOGY:
		perf_details_topology(p, b);
		break;
	case PERF_F_BRANCH_STACK:
		p->details.by_branch |= p->details.branches == INPUT_AS_RECORDED;
		break;
	case PERF_F_GROUP_DESC:
		read_groups(p, b);
		break;
	case PERF_F_CLOCK_DATA:
		read_clock(p, b);
		break;
	case PERF_F_FILE:
	case PERF_F_FILE2:
		read_symbols(p, b, feature == PERF_F_FILE2);
		break;
	case PERF_F_DIR_FORMAT:
		p->is_directory = true;
		break;
	}
}
