/* Old names of parameters and statistics, which scripts may use for one release after a change; CHANGELOG.md
 * lists them. Not for knobs: a policy is checked against the names of its day. */
#ifndef WW_SIM_ALIAS_H
#define WW_SIM_ALIAS_H

/* The name of today, where `name` is an old one; else NULL. */
const char *alias_current(const char *name);

#endif
