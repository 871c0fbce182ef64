/* fleet.h - what concerns stores of many recordings is another program, kin-fleet: kin with
 * src/fleet in it. So kin has neither that code nor libcurl, and a report of a store costs one more
 * start of a program. Handing over the samples instead, as a recording on a pipe, would cost half
 * as much again as the whole report. */
#ifndef CLI_FLEET_H
#define CLI_FLEET_H

/* To be called before work on a store begins. In kin it becomes kin-fleet with the same command
 * line, and returns the exit status only if that fails. In kin-fleet it returns -1: go on. */
int fleet_run(char **argv);

/* Of the commands that are in kin-fleet, what kin help lists. */
#define AGENT_SUMMARY "record this machine all the time, at a low rate, into a store"
#define PUSH_SUMMARY  "send recordings to a store of many: ClickHouse"
#define TIDY_SUMMARY  "sum up a store's hours, drop its old days"

#endif
