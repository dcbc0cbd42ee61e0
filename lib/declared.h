/* What the words of a CREATE TABLE statement mean to SQLite. */
#ifndef PITOT_LIB_DECLARED_H
#define PITOT_LIB_DECLARED_H

#include "lib/table.h"

/* Of a column declared with this type, "" if with none. */
enum affinity declared_affinity(const char *type, bool strict);

/* The only type, but for NULL, that a column of a STRICT table stores. PITOT_NULL: any. */
enum pitot_type declared_type(const char *type);

/* By name; NULL is none of SQLite's own. */
enum collation declared_collation(const char *name);

#endif
