/* How a library was built, as its build script wrote it down. */
#ifndef PITOT_COORDINATOR_LIBRARY_BUILD_H
#define PITOT_COORDINATOR_LIBRARY_BUILD_H

#include "coordinator/registry.h"

/* Adds the facts of `build.json` beside the library: each key that holds a text, or a list of
 * texts (joined by blanks). Nothing for a library that the manifest does not name, or that has no
 * such file. ERROR_MEMORY; another error says why the file, which is there, cannot be read. */
int library_build_read(const struct engine_choice *choice, result_pairs *out, struct error *error);

#endif
