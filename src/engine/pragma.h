/* Settings as PRAGMAs, safe against text in a value; what the drivers of engines that take
 * SQLite's PRAGMAs share. */
#ifndef PITOT_ENGINE_PRAGMA_H
#define PITOT_ENGINE_PRAGMA_H

#include "base/buffer.h"
#include "core/error.h"
#include "engine/engine.h"

#include <stddef.h>
#include <stdint.h>

/* ERROR_INVALID unless the name is letters, digits and _. */
int pragma_check_name(const char *name, struct error *error);

/* The two halves of setting one, around its execution by the driver: makes `sql` (initialised here,
 * released by the caller in every case), ERROR_INVALID for the name, ERROR_MEMORY; */
int pragma_begin(struct buffer *sql, const char *name, const char *value, struct error *error);
/* and 0 for ENGINE_OK, else an error with the engine's text and code. */
int pragma_end(enum engine_status status, const char *name, const char *value, const char *text,
               int code, struct error *error);

/* The value of a timeout, 0 to INT32_MAX ms; ERROR_INVALID for any other text. */
int pragma_milliseconds(const char *name, const char *value, uint32_t *out, struct error *error);

/* Hands out a value that was read: 0, or ERROR_ENGINE when it does not fit into `size` bytes. */
int pragma_copy(const char *name, const char *value, size_t length, char *out, size_t size,
                struct error *error);
int pragma_copy_number(const char *name, uint32_t value, char *out, size_t size,
                       struct error *error);

#endif
