/*
 * Opening a store: which of the many things that can lie at a path lies there, and what follows.
 *
 *     missing            build the schema in memory, write it to a file aside, rename (lib/path.h)
 *     empty              build it in place, in a rollback-journal transaction, then switch to WAL;
 *                        also where the file system cannot rename without replacing
 *     ours               open; rebuild in one transaction if version or DDL differ
 *     ours, damaged      set aside, then as missing
 *     anything else      FOREIGN
 *
 * What is ours is known by the application id in the header, or by the lock file's text beside it.
 * All this happens under the writer's lock, so that processes that open one new path come one after
 * the other: switching to WAL would refuse them at once, whatever the busy timeout.
 */
#include "lib/extend.h"
#include "lib/path.h"
#include "lib/store.h"

#include <stdlib.h>
#include <string.h>

#define WAL_LIMIT_DEFAULT (INT64_C(4) << 20)
#define WAL_LIMIT_SMALLEST (INT64_C(64) << 10)

static int foreign(const struct pitot_store *store, struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_FOREIGN,
                   "'%s' is no database of this library; it was left alone", store->path);
}

/* Opens the file that is there, and notes it: a hard link would have another lock file. */
static int connect(struct pitot_store *store, enum connection_kind kind, struct pitot_error *error)
{
    struct file_identity file;
    int result = 0;
    if (kind == CONNECTION_WRITER) {
        result = path_identity(store->path, &file, error);
        process_lock(store->process);
        if (result == 0 && process_has(store->process, file)) {
            result =
                failure(error, PITOT_ERROR_OWNED,
                        "'%s' is open in this process already, under another name", store->path);
        }
        if (result == 0) {
            result = process_add(store->process, store, file, error);
        }
        process_unlock(store->process);
    }
    const char *vfs = store->vfs;
    if (result == 0 && kind == CONNECTION_WRITER && store->wal == NULL) {
        result = wal_vfs_new(&store->wal, vfs, error);
    }
    if (kind == CONNECTION_WRITER && store->wal != NULL) {
        vfs = wal_vfs_name(store->wal);
    }
    if (result == 0) {
        result = connection_open(&store->writer.connection, store->path, vfs, kind,
                                 store->busy_timeout_ms, &store->closing, error);
    }
    if (result == 0 && kind == CONNECTION_WRITER && store->wal != NULL) {
        wal_vfs_watch(store->wal, store->writer.connection.db);
    }
    return result;
}

static void disconnect(struct pitot_store *store)
{
    connection_close(&store->writer.connection);
    process_lock(store->process);
    process_remove(store->process, store);
    process_unlock(store->process);
}

/* In a file that is missing or empty; afterwards the file is there and the connection closed. */
static int create_in_place(struct pitot_store *store, const struct schema *schema,
                           struct pitot_error *error)
{
    /* A transaction that is broken off leaves a file that its header does not prove to be ours. */
    int result = lock_mark(&store->lock, LOCK_STORE, error);
    if (result == 0) {
        result = connect(store, CONNECTION_MAKER, error);
    }
    if (result == 0) {
        result = schema_create(&store->writer.connection, schema, error);
    }
    if (result == 0) {
        result = schema_use_wal(&store->writer.connection, error);
    }
    disconnect(store);
    return result;
}

/* The image is a file as the default VFS on Unix keeps it. */
static bool can_publish(const struct pitot_store *store)
{
    const sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    return store->vfs == NULL && vfs != NULL && strcmp(vfs->zName, "unix") == 0;
}

static int create(struct pitot_store *store, const struct schema *schema, struct pitot_error *error)
{
    int result = path_remove_orphans(store->path, error);
    bool published = false;
    if (result == 0 && can_publish(store)) {
        unsigned char *bytes = NULL;
        size_t size = 0;
        result = schema_image(schema, &bytes, &size, error);
        if (result == 0) {
            result = path_publish(store->path, bytes, size, error);
            published = result == 0;
        }
        sqlite3_free(bytes);
    }
    if (result == 1) {
        /* Not renamed: the file system cannot, or somebody has made a file there just now. */
        struct path_look look;
        result = path_look(store->path, store->vfs, &look, error);
        if (result == 0 && look.content != PATH_MISSING && look.content != PATH_EMPTY) {
            return foreign(store, error);
        }
    }
    if (result == 0 && !published) {
        result = create_in_place(store, schema, error);
    }
    if (result == 0) {
        result = connect(store, CONNECTION_WRITER, error);
    }
    if (result == 0) {
        result = lock_mark(&store->lock, LOCK_STORE, error);
    }
    store->outcome = PITOT_CREATED;
    return result;
}

static int replace_damaged(struct pitot_store *store, const struct schema *schema,
                           struct pitot_error *error)
{
    /* First the mark: when this is broken off, the next attempt goes on with it. */
    int result = lock_mark(&store->lock, LOCK_DAMAGED, error);
    if (result == 0) {
        result = path_set_aside(store->path, &store->set_aside, error);
    }
    if (result == 0) {
        result = create(store, schema, error);
    }
    if (result == 0) {
        store->outcome = PITOT_REPLACED;
    }
    return result;
}

/* Checks an open database, and rebuilds it if it must be. */
static int adopt(struct pitot_store *store, const struct schema *schema,
                 const struct path_look *look, struct pitot_error *error)
{
    struct connection *connection = &store->writer.connection;
    bool matches = false;
    store->outcome = PITOT_OPENED;
    if (look->content == PATH_OURS && look->settled && look->user_version == schema->mark &&
        store->lock.state == LOCK_STORE) {
        return 0; /* SQLite reads the file when the first source or reader comes */
    }
    int result = schema_matches(connection, schema, &matches, error);
    if (result == 0 && look->content == PATH_OURS_OLD) {
        result = schema_use_wal(connection, error);
    }
    if (result == 0 && !matches) {
        bool rebuilt = false;
        result = schema_rebuild(connection, schema, &rebuilt, error);
        store->outcome = rebuilt ? PITOT_REBUILT : PITOT_OPENED;
    }
    return result == 0 ? lock_mark(&store->lock, LOCK_STORE, error) : result;
}

static int open_existing(struct pitot_store *store, const struct schema *schema,
                         const struct path_look *look, struct pitot_error *error)
{
    struct pitot_error found = {0};
    int result = connect(store, CONNECTION_WRITER, &found);
    if (result == 0) {
        result = adopt(store, schema, look, &found);
    }
    if (result == PITOT_ERROR_CORRUPT) {
        disconnect(store);
        return replace_damaged(store, schema, error);
    }
    if (result != 0 && error != NULL) {
        *error = found;
    }
    return result;
}

/* A file that is not to be known by its header, with our lock file beside it: a transaction that
 * made it was broken off (then SQLite rolls it back to an empty file), or it is damaged. */
static int open_unknown(struct pitot_store *store, const struct schema *schema,
                        struct pitot_error *error)
{
    struct path_look look;
    struct pitot_error ignored;
    if (connect(store, CONNECTION_WRITER, &ignored) == 0) {
        bool matches;
        schema_matches(&store->writer.connection, schema, &matches, &ignored);
    }
    disconnect(store);
    int result = path_look(store->path, store->vfs, &look, error);
    if (result != 0) {
        return result;
    }
    return look.content == PATH_EMPTY || look.content == PATH_MISSING ? create(store, schema, error)
           : look.content == PATH_OTHER ? replace_damaged(store, schema, error)
                                        : foreign(store, error);
}

static int open_content(struct pitot_store *store, const struct schema *schema,
                        const struct path_look *look, struct pitot_error *error)
{
    if (store->lock.state == LOCK_DAMAGED && look->content != PATH_DATABASE) {
        return replace_damaged(store, schema, error);
    }
    switch (look->content) {
    case PATH_MISSING:
    case PATH_EMPTY:
        return create(store, schema, error);
    case PATH_OURS:
    case PATH_OURS_OLD:
        return open_existing(store, schema, look, error);
    case PATH_OTHER:
        if (store->lock.state == LOCK_STORE) {
            return open_unknown(store, schema, error);
        }
        break;
    case PATH_DATABASE:
        break;
    }
    return foreign(store, error);
}

static int open_database(struct pitot_store *store, const struct schema *schema,
                         struct pitot_error *error)
{
    struct path_look look;
    int result = path_look(store->path, store->vfs, &look, error);
    if (result != 0) {
        return result;
    }
    /* Beside a file that is not ours not even a lock file is made. */
    bool known = look.content != PATH_OTHER && look.content != PATH_DATABASE;
    result = lock_take(&store->lock, store->process, store->path, known, error);
    if (result == PITOT_ERROR_MISSING && !known) {
        return foreign(store, error);
    }
    if (result == 0 && look.content != PATH_OURS) {
        /* Another process may have made it by now. */
        result = path_look(store->path, store->vfs, &look, error);
    }
    if (result == 0) {
        result = open_content(store, schema, &look, error);
    }
    if (result == 0) {
        connection_keep_wal(&store->writer.connection, false);
    } else {
        disconnect(store);
        lock_release(&store->lock);
    }
    return result;
}

static int check_options(const struct pitot_store_options *options, struct pitot_error *error)
{
    if (options->busy_timeout_ms < 0) {
        return failure(error, PITOT_ERROR_INVALID, "busy_timeout_ms is %d; 0 or more is possible",
                       options->busy_timeout_ms);
    }
    if (options->wal_limit != 0 && options->wal_limit < WAL_LIMIT_SMALLEST) {
        return failure(error, PITOT_ERROR_INVALID, "wal_limit is %lld; at least %lld is possible",
                       (long long)options->wal_limit, (long long)WAL_LIMIT_SMALLEST);
    }
    return 0;
}

/* Everything but the database. */
static struct pitot_store *store_new(const struct pitot_store_options *options,
                                     struct pitot_error *error)
{
    struct pitot_store *store = calloc(1, sizeof *store);
    if (store == NULL || (options->vfs != NULL && (store->vfs = strdup(options->vfs)) == NULL)) {
        failure(error, PITOT_ERROR_MEMORY, "out of memory");
        free(store);
        return NULL;
    }
    store->references = 1;
    store->lock.descriptor = -1;
    store->busy_timeout_ms =
        options->busy_timeout_ms == 0 ? DEFAULT_BUSY_TIMEOUT_MS : options->busy_timeout_ms;
    store->wal_limit = options->wal_limit == 0 ? WAL_LIMIT_DEFAULT : options->wal_limit;
    pthread_mutex_init(&store->writing, NULL);
    pthread_mutex_init(&store->mutex, NULL);
    condition_init(&store->changed);
    stats_init(&store->stats);
    return store;
}

int pitot_store_open(const char *path, int version, const char *ddl,
                     const struct pitot_store_options *given, struct pitot_store **store,
                     struct pitot_error *error)
{
    struct pitot_store_options options = {0};
    if (path == NULL || ddl == NULL || store == NULL ||
        (given != NULL &&
         !extend_in(&options, sizeof options, given, given->size, sizeof options))) {
        return failure(error, PITOT_ERROR_INVALID,
                       "no path, no DDL, no place for the store, or options->size is not set");
    }
    *store = NULL;
    int result = check_options(&options, error);
    if (result != 0) {
        return result;
    }
    struct process *process = NULL;
    result = process_enter(&process, error);
    if (result != 0) {
        return result;
    }
    struct pitot_store *made = store_new(&options, error);
    if (made == NULL) {
        process_leave(process);
        return PITOT_ERROR_MEMORY;
    }
    made->process = process;
    const struct schema schema = schema_of(version, ddl);
    made->schema = schema;
    made->schema.ddl = NULL;
    result = path_resolve(path, true, &made->path, error);
    if (result == 0) {
        result = open_database(made, &schema, error);
    }
    if (result != 0) {
        store_release(made);
        return result;
    }
    *store = made;
    return 0;
}
