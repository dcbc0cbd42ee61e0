/* Limits of the process, for messages that say what ran out. */
#ifndef PITOT_MEASURE_LIMIT_H
#define PITOT_MEASURE_LIMIT_H

#include <sys/resource.h>

enum { LIMIT_TEXT_SIZE = 24 };

/* The soft limit of a resource (RLIMIT_NOFILE, …), "1024", "unlimited", or "unknown". Returns
 * `text`. */
const char *limit_text(int resource, char text[LIMIT_TEXT_SIZE]);

#endif
