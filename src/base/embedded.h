/* Files that were embedded at build (workloads, manifests). */
#ifndef PITOT_BASE_EMBEDDED_H
#define PITOT_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *path;  /* below its folder: "prod/suite.json" */
    const char *bytes; /* NUL behind the last */
    size_t length;
};

/* Both end with an entry whose path is NULL, sorted by path. */
extern const struct embedded_file embedded_workloads[];
extern const struct embedded_file embedded_manifests[];

#endif
