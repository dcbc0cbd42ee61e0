/* Settings as PRAGMAs, safe against text in a value; what the drivers of engines that take
 * SQLite's PRAGMAs share. */
#ifndef PITOT_ENGINE_PRAGMA_H
#define PITOT_ENGINE_PRAGMA_H

#include "base/buffer.h"
#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* ERROR_INVALID unless the name is letters, digits and _. */
int pragma_check_name(const char *name, struct error *error);

/* Appends `PRAGMA name=value`; a value that is no number, word or quoted text is quoted. */
void pragma_put(struct buffer *sql, const char *name, const char *value);

/* The value of a timeout, 0 to INT32_MAX ms; ERROR_INVALID for any other text. */
int pragma_milliseconds(const char *name, const char *value, uint32_t *out, struct error *error);

/* Hands out a value that was read: 0, or ERROR_ENGINE when it does not fit into `size` bytes. */
int pragma_copy(const char *name, const char *value, size_t length, char *out, size_t size,
                struct error *error);
int pragma_copy_number(const char *name, uint32_t value, char *out, size_t size,
                       struct error *error);

#endif
