/* json_samples.c - samples as JSON, one object with its stack on each line: what "kin script
 * --format=json" prints, with source lines. */
#include "formats/formats.h"

static struct kin_error *write_json(struct kin_profile *profile, const struct kin_export_opts *opts,
				    FILE *out)
{
	(void)opts;
	return kin_script(profile, "json",
			  &(struct kin_script_opts){ .size = sizeof(struct kin_script_opts),
						     .fields = "+pid,tid,count,srcline",
						     .inlines = true },
			  out);
}

const struct format json_format = {
	.about = { .name = "json",
		   .what = "samples as JSON, with their stacks and source lines",
		   .endings = (const char *const[]){ ".json", NULL },
		   .is_written = true },
	.write = write_json,
};
