#include "lib/schema.h"

#include "core/clock.h"
#include "core/hash.h"
#include "lib/path.h"
#include "lib/sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Changes with the library's own tables. */
enum { FORMAT = 1 };

static const char own_tables[] =
    "CREATE TABLE pitot_schema(format INTEGER NOT NULL, version INTEGER NOT NULL, "
    "ddl_hash INTEGER NOT NULL);"
    "CREATE TABLE pitot_made(kind TEXT NOT NULL, name TEXT NOT NULL);" SYNC_TABLE;

struct schema schema_of(int version, const char *ddl)
{
    const int marked[] = {FORMAT, version};
    uint64_t hash = hash_bytes(HASH_START, ddl, strlen(ddl));
    uint64_t mark = hash_bytes(hash, marked, sizeof marked);
    return (struct schema){
        .version = version, .ddl = ddl, .hash = hash, .mark = (uint32_t)(mark ^ mark >> 32)};
}

int schema_matches(struct connection *connection, const struct schema *schema, bool *matches,
                   struct pitot_error *error)
{
    sqlite3_stmt *statement = NULL;
    *matches = false;
    int rc = sqlite3_prepare_v2(connection->db,
                                "SELECT format, version, ddl_hash, (SELECT sql || ';' FROM "
                                "sqlite_schema WHERE name = 'pitot_sync') FROM pitot_schema",
                                -1, &statement, NULL);
    if (rc == SQLITE_ERROR) {
        return 0; /* no such table or column */
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) {
            *matches = sqlite3_column_int(statement, 0) == FORMAT &&
                       sqlite3_column_int(statement, 1) == schema->version &&
                       sqlite3_column_int64(statement, 2) == (sqlite3_int64)schema->hash &&
                       sqlite3_column_type(statement, 3) == SQLITE_TEXT &&
                       strcmp((const char *)sqlite3_column_text(statement, 3), SYNC_TABLE) == 0;
        }
        int finalized = sqlite3_finalize(statement);
        rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : finalized;
    }
    return rc == SQLITE_OK ? 0
                           : failure_sqlite(error, connection->db, rc, "reading '%s'",
                                            connection_path(connection));
}

static bool is_own_name(const char *name)
{
    return name != NULL && strncasecmp(name, "pitot_", 6) == 0;
}

/* What DDL may not do: end the transaction that it runs in, reach other databases, change settings,
 * or take the library's names. */
static int allow_ddl(void *reason, int action, const char *one, const char *two,
                     const char *database, const char *by)
{
    (void)database, (void)by;
    const char **found = reason;
    switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        *found = "it may hold no BEGIN, COMMIT, ROLLBACK or SAVEPOINT";
        break;
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        *found = "it may hold no ATTACH or DETACH";
        break;
    case SQLITE_PRAGMA:
        if (strcmp(one, "data_version") == 0) {
            return SQLITE_OK; /* fts5 asks for it when its table is made */
        }
        *found = "it may hold no PRAGMA";
        break;
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_VTABLE:
        if (!is_own_name(one)) {
            return SQLITE_OK;
        }
        *found = "names that begin with 'pitot_' are the library's";
        break;
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_INDEX:
        if (!is_own_name(one) && !is_own_name(two)) {
            return SQLITE_OK;
        }
        *found = "names that begin with 'pitot_' are the library's";
        break;
    default:
        return SQLITE_OK;
    }
    return SQLITE_DENY;
}

/* The line of the DDL that `at` lies in, from 1. */
static int line_of(const char *ddl, const char *at)
{
    int line = 1;
    for (; ddl < at; ddl++) {
        line += *ddl == '\n';
    }
    return line;
}

static int run_ddl(sqlite3 *db, const char *ddl, struct pitot_error *error)
{
    const char *reason = NULL;
    int rc = sqlite3_set_authorizer(db, allow_ddl, &reason);
    const char *rest = ddl;
    const char *begin = ddl;
    while (rc == SQLITE_OK && *rest != '\0') {
        sqlite3_stmt *statement = NULL;
        begin = rest + strspn(rest, " \t\r\n;");
        rc = sqlite3_prepare_v2(db, begin, -1, &statement, &rest);
        if (rc != SQLITE_OK || statement == NULL) {
            continue; /* an error, or a comment at the end */
        }
        do {
            rc = sqlite3_step(statement);
        } while (rc == SQLITE_ROW);
        rc = sqlite3_finalize(statement);
    }
    int result = 0;
    if (rc != SQLITE_OK) {
        result = failure_sqlite(error, db, rc, "DDL, line %d", line_of(ddl, begin));
        if (reason != NULL) {
            result =
                failure(error, PITOT_ERROR_SCHEMA, "DDL, line %d: %s", line_of(ddl, begin), reason);
        } else if (result == PITOT_ERROR_SQLITE || result == PITOT_ERROR_CONSTRAINT ||
                   result == PITOT_ERROR_DUPLICATE || result == PITOT_ERROR_TYPE) {
            result = PITOT_ERROR_SCHEMA;
            if (error != NULL) {
                error->code = result;
            }
        }
    }
    sqlite3_set_authorizer(db, NULL, NULL);
    return result;
}

/* Everything within a transaction: own tables, DDL, the list of what it made. Objects that are
 * there already are kept and not listed. */
static int build(sqlite3 *db, const struct schema *schema, struct pitot_error *error)
{
    static const char note_kept[] = "INSERT INTO pitot_made SELECT 'kept', name FROM sqlite_schema";
    static const char note_made[] =
        "INSERT INTO pitot_made SELECT CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual' ELSE "
        "type END, name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger') AND name NOT "
        "LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN (SELECT name FROM pitot_made);"
        "DELETE FROM pitot_made WHERE kind = 'kept';";
    char stamp[200];
    snprintf(stamp, sizeof stamp,
             "PRAGMA application_id = %d; PRAGMA user_version = %" PRId32
             "; INSERT INTO pitot_schema VALUES(%d, %d, %" PRId64 ")",
             APPLICATION_ID, (int32_t)schema->mark, FORMAT, schema->version, (int64_t)schema->hash);
    int rc = sqlite3_exec(db, own_tables, NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, note_kept, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK) {
        int result = run_ddl(db, schema->ddl, error);
        if (result != 0) {
            return result;
        }
        rc = sqlite3_exec(db, note_made, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, stamp, NULL, NULL, NULL);
    }
    return rc == SQLITE_OK ? 0 : failure_sqlite(error, db, rc, "making the store's own tables");
}

int schema_image(const struct schema *schema, unsigned char **bytes, size_t *size,
                 struct pitot_error *error)
{
    struct connection memory;
    int result = connection_open(&memory, ":memory:", NULL, CONNECTION_MAKER, 0, NULL, error);
    if (result != 0) {
        return result;
    }
    result = build(memory.db, schema, error);
    if (result == 0) {
        sqlite3_int64 length = 0;
        *bytes = sqlite3_serialize(memory.db, "main", &length, 0);
        *size = (size_t)length;
        if (*bytes == NULL) {
            result = failure(error, PITOT_ERROR_MEMORY, "out of memory");
        } else {
            (*bytes)[18] = 2; /* write and read version: WAL (file format, 1.3.3) */
            (*bytes)[19] = 2;
        }
    }
    connection_close(&memory);
    return result;
}

/* Rolls back unless it was done. */
static int end_transaction(struct connection *connection, int result, const char *what,
                           struct pitot_error *error)
{
    if (result == 0) {
        result = connection_run(connection, "COMMIT", what, error);
    }
    if (!sqlite3_get_autocommit(connection->db)) {
        sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return result;
}

int schema_create(struct connection *connection, const struct schema *schema,
                  struct pitot_error *error)
{
    int result = connection_run(connection, "BEGIN EXCLUSIVE", "making", error);
    if (result != 0) {
        return result;
    }
    int64_t objects = 0;
    result = connection_number(connection, "SELECT count(*) FROM sqlite_schema", &objects, error);
    if (result == 0 && objects != 0) {
        result = failure(error, PITOT_ERROR_FOREIGN,
                         "'%s' is no database of this library; it was left alone",
                         connection_path(connection));
    }
    if (result == 0) {
        result = build(connection->db, schema, error);
    }
    return end_transaction(connection, result, "making", error);
}

int schema_use_wal(struct connection *connection, struct pitot_error *error)
{
    struct patience *patience = &connection->patience;
    uint64_t end_ns = clock_now_ns() + patience->limit_ns;
    for (;;) {
        sqlite3_stmt *statement = NULL;
        bool is_wal = false;
        int rc =
            sqlite3_prepare_v2(connection->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
        if (rc == SQLITE_OK) {
            rc = sqlite3_step(statement);
            is_wal = rc == SQLITE_ROW &&
                     sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
            int finalized = sqlite3_finalize(statement);
            rc = rc == SQLITE_ROW ? SQLITE_OK : finalized;
        }
        if (is_wal) {
            return 0;
        }
        if (rc == SQLITE_OK) {
            return failure(error, PITOT_ERROR_SQLITE,
                           "'%s' cannot be switched to WAL: its file system or VFS has no shared "
                           "memory",
                           connection_path(connection));
        }
        if ((rc & 0xff) != SQLITE_BUSY || clock_now_ns() >= end_ns) {
            return failure_sqlite(error, connection->db, rc, "switching '%s' to WAL",
                                  connection_path(connection));
        }
        clock_sleep_until_ns(clock_now_ns() + NS_PER_MS);
    }
}

/* Runs SQL that a query has composed: one text, or NULL. The query has ended by then, since nothing
 * can be dropped under it. */
static int run_composed(struct connection *connection, const char *query, struct pitot_error *error)
{
    sqlite3_stmt *statement = NULL;
    char *sql = NULL;
    int rc = sqlite3_prepare_v2(connection->db, query, -1, &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        sql = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        rc = sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    int finalized = sqlite3_finalize(statement);
    rc = rc == SQLITE_OK ? finalized : rc;
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    }
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0
                           : failure_sqlite(error, connection->db, rc, "rebuilding '%s'",
                                            connection_path(connection));
}

/* The names that the new DDL makes must not be those of tables that stay. */
static int check_names(struct connection *connection, const struct schema *schema,
                       struct pitot_error *error)
{
    struct connection memory;
    int result = connection_open(&memory, ":memory:", NULL, CONNECTION_MAKER, 0, NULL, error);
    if (result != 0) {
        return result;
    }
    sqlite3_stmt *made = NULL;
    sqlite3_stmt *there = NULL;
    result = build(memory.db, schema, error);
    int rc = SQLITE_OK;
    if (result == 0) {
        rc = sqlite3_prepare_v2(memory.db, "SELECT name FROM pitot_made", -1, &made, NULL);
    }
    if (result == 0 && rc == SQLITE_OK) {
        rc = sqlite3_prepare_v2(connection->db,
                                "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE", -1,
                                &there, NULL);
    }
    while (result == 0 && rc == SQLITE_OK && (rc = sqlite3_step(made)) == SQLITE_ROW) {
        sqlite3_bind_value(there, 1, sqlite3_column_value(made, 0));
        rc = sqlite3_step(there);
        if (rc == SQLITE_ROW) {
            result = failure(error, PITOT_ERROR_SCHEMA,
                             "the DDL makes '%s', which is in '%s' and was not made by its old "
                             "DDL; rename or drop it",
                             sqlite3_column_text(made, 0), connection_path(connection));
        }
        sqlite3_reset(there);
        rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
    }
    if (result == 0 && rc != SQLITE_DONE) {
        result = failure_sqlite(error, connection->db, rc, "rebuilding '%s'",
                                connection_path(connection));
    }
    sqlite3_finalize(there);
    sqlite3_finalize(made);
    connection_close(&memory);
    return result;
}

static int rebuild(struct connection *connection, const struct schema *schema,
                   struct pitot_error *error)
{
    int64_t listed = 0;
    int result = connection_number(
        connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'pitot_made'", &listed, error);
    /* Virtual tables before tables, since their own tables go with them. Names of the list may be
     * gone for this reason; those of tables with a trigger of their own, too. */
    if (result == 0 && listed != 0) {
        result = run_composed(
            connection,
            "SELECT group_concat(sql, ';') FROM (SELECT printf('DROP %s IF EXISTS \"%w\"', CASE "
            "kind "
            "WHEN 'virtual' THEN 'table' ELSE kind END, name) AS sql FROM pitot_made ORDER BY CASE "
            "kind WHEN 'trigger' THEN 1 WHEN 'view' THEN 2 WHEN 'virtual' THEN 3 ELSE 4 END)",
            error);
    }
    if (result == 0) {
        result = run_composed(
            connection,
            "SELECT group_concat(printf('DROP TABLE \"%w\"', name), ';') FROM sqlite_schema WHERE "
            "type = 'table' AND name IN ('pitot_schema', 'pitot_made', 'pitot_sync')",
            error);
    }
    if (result == 0) {
        result = check_names(connection, schema, error);
    }
    return result == 0 ? build(connection->db, schema, error) : result;
}

int schema_rebuild(struct connection *connection, const struct schema *schema, bool *rebuilt,
                   struct pitot_error *error)
{
    int foreign_keys = 0;
    bool matches = false;
    *rebuilt = false;
    /* Dropping a table deletes its rows, and with foreign keys on reaches those of tables that
     * stay. */
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &foreign_keys);
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
    int result = connection_run(connection, "BEGIN IMMEDIATE", "rebuilding", error);
    if (result == 0) {
        result = schema_matches(connection, schema, &matches, error);
        if (result == 0 && !matches) {
            result = rebuild(connection, schema, error);
        }
        result = end_transaction(connection, result, "rebuilding", error);
    }
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_ENABLE_FKEY, foreign_keys, NULL);
    *rebuilt = result == 0 && !matches;
    return result;
}

int schema_definition(struct connection *connection, const char *table, uint64_t *hash,
                      struct pitot_error *error)
{
    sqlite3_stmt *statement = NULL;
    *hash = 0;
    int result = connection_prepare(connection,
                                    "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name "
                                    "= ? COLLATE NOCASE",
                                    &statement, error);
    if (result != 0) {
        return result;
    }
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL) {
        *hash = hash_bytes(HASH_START, sqlite3_column_text(statement, 0),
                           (size_t)sqlite3_column_bytes(statement, 0));
    }
    int finalized = sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? 0
               : failure_sqlite(error, connection->db, finalized, "reading '%s'",
                                connection_path(connection));
}

int schema_cookie(struct connection *connection, int64_t *cookie, struct pitot_error *error)
{
    return connection_number(connection, "PRAGMA schema_version", cookie, error);
}

int schema_has_side_effects(struct connection *connection, bool *has, struct pitot_error *error)
{
    int64_t found = 0;
    int result = connection_number(
        connection,
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger') OR EXISTS (SELECT 1 "
        "FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k WHERE t.type = 'table' AND "
        "(k.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR k.on_update NOT IN ('NO ACTION', "
        "'RESTRICT')))",
        &found, error);
    *has = found != 0;
    return result;
}
