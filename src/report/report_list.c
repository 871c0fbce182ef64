/* report_list.c - the list of reports. */
#include <string.h>

#include "report/reports.h"

static const struct report *const list[] = { &asm_report,      &flat_report,      &graph_report,
					     &index_report,    &imbalance_report, &lines_report,
					     &annotate_report, &counts_report,    &cycles_report,
					     &info_report,     &latency_report,   &hists_report,
					     &findings_report, &own_lines_report };

const struct report *report_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (!strcmp(list[i]->name, name))
			return list[i];
	return NULL;
}
