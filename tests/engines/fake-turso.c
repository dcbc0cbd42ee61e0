/*
 * A library with Turso's C ABI and nothing behind it: what it answers is told by a test of the same
 * process, through fake_turso(). FAKE_TURSO_LACKS_RUN_IO leaves a function out.
 */
#include "fake-turso.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every symbol that the driver asks for; one without a body below makes the driver say so. */
#define X(result, name, arguments) result turso_##name arguments;
TURSO_REQUIRED(X)
#undef X

struct turso_database {
    bool open;
};

struct turso_connection {
    bool closed;
};

struct turso_statement {
    char *sql;
    unsigned steps;
    struct value row; /* of a default answer */
    bool answered;
};

static struct fake_turso fake;

struct fake_turso *fake_turso(void)
{
    return &fake;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    size_t length = strlen(fake.calls);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fake.calls + length, sizeof fake.calls - length, format, arguments);
    va_end(arguments);
}

static int answer(int code, const char *text, const char **message)
{
    if (text != NULL && message != NULL) {
        *message = strdup(text);
        fake.strings++;
    }
    return code;
}

void turso_str_deinit(const char *text)
{
    if (text != NULL) {
        fake.strings--;
        free((char *)text);
    }
}

const char *turso_version(void)
{
    return fake.abi_version;
}

/* ---- databases and connections -------------------------------------------------------- */

int turso_database_new(const struct turso_database_config *config,
                       const struct turso_database **out, const char **message)
{
    (void)message;
    fake.config = *config;
    snprintf(fake.path, sizeof fake.path, "%s", config->path);
    snprintf(fake.vfs, sizeof fake.vfs, "%s", config->vfs != NULL ? config->vfs : "");
    *out = calloc(1, sizeof **out);
    fake.databases++;
    return TURSO_OK;
}

int turso_database_open(const struct turso_database *database, const char **message)
{
    (void)database;
    if (fake.open_ios > 0) {
        fake.open_ios--;
        return TURSO_IO;
    }
    /* The database in memory, where the version is asked for, always opens. */
    return fake.open_code == 0 || strcmp(fake.path, ":memory:") == 0
               ? TURSO_OK
               : answer(fake.open_code, "no door", message);
}

int turso_database_connect(const struct turso_database *database, struct turso_connection **out,
                           const char **message)
{
    (void)database;
    if (fake.connect_code != 0) {
        return answer(fake.connect_code, "no line", message);
    }
    note("connect\n");
    *out = calloc(1, sizeof **out);
    fake.connections++;
    return TURSO_OK;
}

void turso_database_deinit(const struct turso_database *database)
{
    if (database != NULL) {
        fake.databases--;
        free((void *)database);
    }
}

void turso_connection_set_busy_timeout_ms(const struct turso_connection *connection, int64_t ms)
{
    (void)connection;
    note("timeout %lld\n", (long long)ms);
}

bool turso_connection_get_autocommit(const struct turso_connection *connection)
{
    (void)connection;
    return !fake.in_transaction;
}

int turso_connection_close(const struct turso_connection *connection, const char **message)
{
    (void)connection;
    (void)message;
    note("close\n");
    return TURSO_OK;
}

void turso_connection_deinit(const struct turso_connection *connection)
{
    if (connection != NULL) {
        fake.connections--;
        free((void *)connection);
    }
}

/* ---- statements ------------------------------------------------------------------------ */

/* One statement ends at its semicolon; blanks alone are none. */
int turso_connection_prepare_first(const struct turso_connection *connection, const char *sql,
                                   struct turso_statement **out, size_t *tail, const char **message)
{
    (void)connection;
    size_t blanks = strspn(sql, " \n;");
    if (sql[blanks] == '\0') {
        *out = NULL;
        return TURSO_OK;
    }
    if (fake.prepare_code != 0) {
        return answer(fake.prepare_code, "no sense", message);
    }
    size_t length = strcspn(sql + blanks, ";");
    *out = calloc(1, sizeof **out);
    (*out)->sql = strndup(sql + blanks, length);
    *tail = blanks + length + (sql[blanks + length] == ';');
    fake.statements++;
    note("prepare %s\n", (*out)->sql);
    return TURSO_OK;
}

static struct value text_value(const char *text)
{
    return (struct value){.type = VALUE_TEXT, .bytes = text, .length = (uint32_t)strlen(text)};
}

static int default_step(struct turso_statement *statement)
{
    if (statement->answered) {
        return TURSO_DONE;
    }
    if (strcmp(statement->sql, "SELECT turso_version()") == 0) {
        statement->row = text_value(fake.version);
    } else if (strcmp(statement->sql, "PRAGMA journal_mode") == 0) {
        statement->row = text_value(fake.journal_mode);
    } else {
        return TURSO_DONE;
    }
    statement->answered = true;
    return TURSO_ROW;
}

int turso_statement_step(const struct turso_statement *const_statement, const char **message)
{
    struct turso_statement *statement = (struct turso_statement *)const_statement;
    const char *text = NULL;
    note("step %s\n", statement->sql);
    statement->steps++;
    int code =
        fake.step != NULL ? fake.step(statement->sql, statement->steps, &text) : FAKE_DEFAULT;
    return code == FAKE_DEFAULT ? default_step(statement) : answer(code, text, message);
}

#ifndef FAKE_TURSO_LACKS_RUN_IO
int turso_statement_run_io(const struct turso_statement *statement, const char **message)
{
    (void)statement;
    fake.run_ios++;
    return fake.run_io_code == 0 ? TURSO_OK : answer(fake.run_io_code, "no disk", message);
}
#endif

int turso_statement_reset(const struct turso_statement *const_statement, const char **message)
{
    struct turso_statement *statement = (struct turso_statement *)const_statement;
    fake.resets++;
    statement->steps = 0;
    statement->answered = false;
    return fake.reset_code == 0 ? TURSO_OK : answer(fake.reset_code, "no way back", message);
}

void turso_statement_deinit(const struct turso_statement *statement)
{
    if (statement != NULL) {
        fake.statements--;
        free(statement->sql);
        free((void *)statement);
    }
}

int64_t turso_statement_n_change(const struct turso_statement *statement)
{
    (void)statement;
    return fake.n_change;
}

/* ---- values ------------------------------------------------------------------------------ */

static const struct value *shown(const struct turso_statement *statement, size_t i)
{
    return statement->answered ? &statement->row : &fake.row[i];
}

int64_t turso_statement_column_count(const struct turso_statement *statement)
{
    return statement->answered ? 1 : fake.columns;
}

int turso_statement_row_value_kind(const struct turso_statement *statement, size_t i)
{
    static const int kinds[] = {[VALUE_NULL] = TURSO_TYPE_NULL,
                                [VALUE_INTEGER] = TURSO_TYPE_INTEGER,
                                [VALUE_DOUBLE] = TURSO_TYPE_REAL,
                                [VALUE_TEXT] = TURSO_TYPE_TEXT,
                                [VALUE_BLOB] = TURSO_TYPE_BLOB};
    return kinds[shown(statement, i)->type];
}

int64_t turso_statement_row_value_bytes_count(const struct turso_statement *statement, size_t i)
{
    return shown(statement, i)->length;
}

const char *turso_statement_row_value_bytes_ptr(const struct turso_statement *statement, size_t i)
{
    return shown(statement, i)->bytes;
}

int64_t turso_statement_row_value_int(const struct turso_statement *statement, size_t i)
{
    return shown(statement, i)->integer;
}

double turso_statement_row_value_double(const struct turso_statement *statement, size_t i)
{
    return shown(statement, i)->real;
}

/* As many as there are question marks. */
int64_t turso_statement_parameters_count(const struct turso_statement *statement)
{
    int64_t count = 0;
    for (const char *at = statement->sql; *at != '\0'; at++) {
        count += *at == '?';
    }
    return count;
}

static int take_bound(size_t position, struct value value)
{
    if (fake.bind_code == 0) {
        fake.bound[position - 1] = value;
    }
    return fake.bind_code;
}

int turso_statement_bind_positional_null(const struct turso_statement *statement, size_t position)
{
    (void)statement;
    return take_bound(position, (struct value){.type = VALUE_NULL});
}

int turso_statement_bind_positional_int(const struct turso_statement *statement, size_t position,
                                        int64_t value)
{
    (void)statement;
    return take_bound(position, (struct value){.type = VALUE_INTEGER, .integer = value});
}

int turso_statement_bind_positional_double(const struct turso_statement *statement, size_t position,
                                           double value)
{
    (void)statement;
    return take_bound(position, (struct value){.type = VALUE_DOUBLE, .real = value});
}

int turso_statement_bind_positional_text(const struct turso_statement *statement, size_t position,
                                         const char *bytes, size_t length)
{
    (void)statement;
    return take_bound(
        position, (struct value){.type = VALUE_TEXT, .bytes = bytes, .length = (uint32_t)length});
}

int turso_statement_bind_positional_blob(const struct turso_statement *statement, size_t position,
                                         const char *bytes, size_t length)
{
    (void)statement;
    return take_bound(
        position, (struct value){.type = VALUE_BLOB, .bytes = bytes, .length = (uint32_t)length});
}
