#include "lib/convert.h"

#include <stdlib.h>

struct convert {
    sqlite3 *db;
    sqlite3_stmt *store[5]; /* by affinity */
    sqlite3_stmt *load[5];
};

/* Columns of the scratch table, by affinity. */
static const char *const columns[5] = {"b", "t", "n", "i", "r"};

int convert_bind(sqlite3_stmt *statement, int parameter, const struct pitot_value *value)
{
    const void *bytes = value->size > 0 ? value->as.bytes : "";
    switch (value->type) {
    case PITOT_INTEGER:
        return sqlite3_bind_int64(statement, parameter, value->as.integer);
    case PITOT_REAL:
        return sqlite3_bind_double(statement, parameter, value->as.real);
    case PITOT_TEXT:
        return sqlite3_bind_text64(statement, parameter, bytes, value->size, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case PITOT_BLOB:
        return sqlite3_bind_blob64(statement, parameter, bytes, value->size, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, parameter);
    }
}

bool convert_column(sqlite3_stmt *statement, int column, struct pitot_value *value)
{
    *value = (struct pitot_value){.type = PITOT_NULL};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value->type = PITOT_INTEGER;
        value->as.integer = sqlite3_column_int64(statement, column);
        return true;
    case SQLITE_FLOAT:
        value->type = PITOT_REAL;
        value->as.real = sqlite3_column_double(statement, column);
        return true;
    case SQLITE_TEXT:
        value->type = PITOT_TEXT;
        value->as.bytes = sqlite3_column_text(statement, column);
        break;
    case SQLITE_BLOB:
        value->type = PITOT_BLOB;
        value->as.bytes = sqlite3_column_blob(statement, column);
        break;
    default:
        return true;
    }
    value->size = (uint32_t)sqlite3_column_bytes(statement, column);
    return value->as.bytes != NULL || (value->size == 0 && value->type == PITOT_BLOB);
}

static int prepare(struct convert *convert, enum affinity affinity)
{
    char sql[64];
    sqlite3_snprintf(sizeof sql, sql, "UPDATE a SET %s = ?", columns[affinity]);
    int rc = sqlite3_prepare_v2(convert->db, sql, -1, &convert->store[affinity], NULL);
    if (rc == SQLITE_OK) {
        sqlite3_snprintf(sizeof sql, sql, "SELECT %s FROM a", columns[affinity]);
        rc = sqlite3_prepare_v2(convert->db, sql, -1, &convert->load[affinity], NULL);
    }
    return rc;
}

static int open_scratch(struct convert *convert)
{
    int rc =
        sqlite3_open_v2(":memory:", &convert->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(convert->db,
                          "CREATE TABLE a(b BLOB, t TEXT, n NUMERIC, i INTEGER, r REAL);"
                          "INSERT INTO a DEFAULT VALUES",
                          NULL, NULL, NULL);
    }
    return rc;
}

static int store_and_load(struct convert *convert, enum affinity affinity,
                          const struct pitot_value *value, sqlite3_value **out)
{
    int rc = convert->load[affinity] != NULL ? SQLITE_OK : prepare(convert, affinity);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_stmt *store = convert->store[affinity];
    sqlite3_stmt *load = convert->load[affinity];
    rc = convert_bind(store, 1, value);
    if (rc == SQLITE_OK) {
        sqlite3_step(store);
        rc = sqlite3_reset(store);
    }
    sqlite3_clear_bindings(store);
    if (rc != SQLITE_OK) {
        return rc;
    }
    rc = sqlite3_step(load);
    if (rc == SQLITE_ROW) {
        *out = sqlite3_value_dup(sqlite3_column_value(load, 0));
        rc = *out != NULL ? SQLITE_OK : SQLITE_NOMEM;
    }
    sqlite3_reset(load);
    return rc;
}

int convert_value(struct convert **convert, enum affinity affinity, const struct pitot_value *value,
                  sqlite3_value **out, struct pitot_error *error)
{
    int rc = SQLITE_OK;
    if (*convert == NULL) {
        *convert = calloc(1, sizeof **convert);
        rc = *convert == NULL ? SQLITE_NOMEM : open_scratch(*convert);
    }
    if (rc == SQLITE_OK) {
        rc = store_and_load(*convert, affinity, value, out);
    }
    if (rc != SQLITE_OK) {
        failure_sqlite(error, *convert != NULL ? (*convert)->db : NULL, rc,
                       "a value could not be converted");
        convert_free(*convert);
        *convert = NULL;
        return sqlite_error_code(rc, 0);
    }
    return 0;
}

void convert_free(struct convert *convert)
{
    if (convert == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        sqlite3_finalize(convert->store[i]);
        sqlite3_finalize(convert->load[i]);
    }
    sqlite3_close(convert->db);
    free(convert);
}
