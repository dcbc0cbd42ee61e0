/* What pitot needs around jansson: lines of the wire and checked reading. */
#ifndef PITOT_BASE_JSON_H
#define PITOT_BASE_JSON_H

#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A JSON string of any bytes, by text_escape(). New reference; NULL: no memory. */
json_t *json_text(const char *bytes);

/* Integer within ±(2^53 - 1) as a number, beyond as a decimal string. */
json_t *json_wire_u64(uint64_t value);
json_t *json_wire_i64(int64_t value);
/* A finite double; NAN and infinity give null. */
json_t *json_finite(double value);

/* json_dumps(), but whole or NULL: jansson's leaves words out when memory is short. free() it. */
char *json_dump_text(const json_t *json, size_t flags);

/* Getters for untrusted objects: `where` names the object in messages. Missing or
 * of another type is ERROR_PROTOCOL. Wire integers are taken in both forms. */
int json_get_u64(const json_t *object, const char *key, const char *where, uint64_t *out,
                 struct error *error);
int json_get_i64(const json_t *object, const char *key, const char *where, int64_t *out,
                 struct error *error);
/* As json_get_u64; null or missing gives `absent`. */
int json_get_u64_or(const json_t *object, const char *key, const char *where, uint64_t absent,
                    uint64_t *out, struct error *error);
int json_get_double(const json_t *object, const char *key, const char *where, double *out,
                    struct error *error);
int json_get_bool(const json_t *object, const char *key, const char *where, bool *out,
                  struct error *error);
/* Borrowed from the object. */
int json_get_string(const json_t *object, const char *key, const char *where, const char **out,
                    struct error *error);
/* null or missing gives NULL. */
int json_get_string_or_null(const json_t *object, const char *key, const char *where,
                            const char **out, struct error *error);
int json_get_array(const json_t *object, const char *key, const char *where, json_t **out,
                   struct error *error);
int json_get_object(const json_t *object, const char *key, const char *where, json_t **out,
                    struct error *error);

/* Parses exactly one JSON text (duplicate keys refused, depth limited by jansson
 * to 2048). ERROR_PROTOCOL with line and column. */
int json_parse(const char *bytes, size_t length, const char *where, json_t **out,
               struct error *error);
/* Writes one compact line ended by \n to a descriptor, whole; EINTR is retried.
 * Numbers do not depend on the locale. */
int json_write_line(int fd, const json_t *json, struct error *error);

#endif
