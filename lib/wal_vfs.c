#include "lib/wal_vfs.h"

#include "lib/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Before each page in the WAL (https://www.sqlite.org/fileformat2.html, 4.1); bytes 4 to 7 are not
 * zero in a transaction's last one. */
enum { FRAME_HEADER = 24, FRAME_COMMIT = 4, ROOM = 65536, NAME_SIZE = 48 };

struct wal_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    char name[NAME_SIZE];
    sqlite3_file *file; /* the WAL as the VFS below knows it; NULL: it is not open */
    sqlite3_int64 next; /* in the file, behind the last write */
    sqlite3_int64 start;
    size_t held; /* bytes from `start` on that the file does not have yet */
    bool commit; /* the header that came last is that of a transaction's last frame */
    uint8_t bytes[ROOM];
};

struct handle {
    sqlite3_file base;
    struct wal_vfs *wal;
};

static struct wal_vfs *wal_of(sqlite3_file *file)
{
    return ((struct handle *)file)->wal;
}

static int flush(struct wal_vfs *wal)
{
    int size = (int)wal->held;
    wal->held = 0; /* also when it fails: the transaction is rolled back */
    return size == 0 ? SQLITE_OK
                     : wal->file->pMethods->xWrite(wal->file, wal->bytes, size, wal->start);
}

static int write_file(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset)
{
    struct wal_vfs *wal = wal_of(file);
    bool header = amount == FRAME_HEADER;
    bool behind = offset == wal->next;
    int rc = SQLITE_OK;
    wal->next = offset + amount;
    if (!behind || wal->held + (size_t)amount > ROOM) {
        rc = flush(wal);
    }
    /* A header elsewhere is that of a frame which is written again. */
    if (rc != SQLITE_OK || !behind || (wal->held == 0 && !header) || amount > ROOM) {
        return rc != SQLITE_OK ? rc : wal->file->pMethods->xWrite(wal->file, in, amount, offset);
    }
    if (wal->held == 0) {
        wal->start = offset;
    }
    memcpy(wal->bytes + wal->held, in, (size_t)amount);
    wal->held += (size_t)amount;
    if (header) {
        wal->commit = get_u32((const uint8_t *)in + FRAME_COMMIT) != 0;
        return SQLITE_OK;
    }
    return wal->commit ? flush(wal) : SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset)
{
    struct wal_vfs *wal = wal_of(file);
    int rc = SQLITE_OK;
    if (offset < wal->start + (sqlite3_int64)wal->held && offset + amount > wal->start) {
        rc = flush(wal);
    }
    return rc != SQLITE_OK ? rc : wal->file->pMethods->xRead(wal->file, out, amount, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    struct wal_vfs *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->file->pMethods->xTruncate(wal->file, size);
}

static int sync_file(sqlite3_file *file, int flags)
{
    struct wal_vfs *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->file->pMethods->xSync(wal->file, flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct wal_vfs *wal = wal_of(file);
    int rc = wal->file->pMethods->xFileSize(wal->file, size);
    sqlite3_int64 end = wal->start + (sqlite3_int64)wal->held;
    if (rc == SQLITE_OK && wal->held > 0 && end > *size) {
        *size = end;
    }
    return rc;
}

static int close_file(sqlite3_file *file)
{
    struct wal_vfs *wal = wal_of(file);
    sqlite3_file *below = wal->file;
    wal->held = 0;
    wal->file = NULL;
    return below->pMethods->xClose(below);
}

/* What concerns no content. */
#define PASS(type, name, method, parameters, arguments)                                            \
    static type name parameters                                                                    \
    {                                                                                              \
        sqlite3_file *below = wal_of(file)->file;                                                  \
        return below->pMethods->method arguments;                                                  \
    }
PASS(int, lock_file, xLock, (sqlite3_file * file, int lock), (below, lock))
PASS(int, unlock_file, xUnlock, (sqlite3_file * file, int lock), (below, lock))
PASS(int, reserved, xCheckReservedLock, (sqlite3_file * file, int *found), (below, found))
PASS(int, control, xFileControl, (sqlite3_file * file, int what, void *argument),
     (below, what, argument))
PASS(int, sector_size, xSectorSize, (sqlite3_file * file), (below))
PASS(int, characteristics, xDeviceCharacteristics, (sqlite3_file * file), (below))
#undef PASS

static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = write_file,
                                           .xTruncate = truncate_file,
                                           .xSync = sync_file,
                                           .xFileSize = file_size,
                                           .xLock = lock_file,
                                           .xUnlock = unlock_file,
                                           .xCheckReservedLock = reserved,
                                           .xFileControl = control,
                                           .xSectorSize = sector_size,
                                           .xDeviceCharacteristics = characteristics};

/* Every file but the WAL is that of the VFS below. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    struct wal_vfs *wal = vfs->pAppData;
    if ((flags & SQLITE_OPEN_WAL) == 0 || wal->file != NULL) {
        return wal->below->xOpen(wal->below, name, file, flags, out_flags);
    }
    struct handle *handle = (struct handle *)file;
    sqlite3_file *below = (sqlite3_file *)(handle + 1);
    below->pMethods = NULL;
    handle->base.pMethods = NULL;
    int rc = wal->below->xOpen(wal->below, name, below, flags, out_flags);
    if (rc != SQLITE_OK) {
        if (below->pMethods != NULL) {
            below->pMethods->xClose(below);
        }
        return rc;
    }
    handle->wal = wal;
    handle->base.pMethods = &methods;
    wal->file = below;
    wal->next = -1;
    return SQLITE_OK;
}

#define PASS(name, method, parameters, arguments)                                                  \
    static int name parameters                                                                     \
    {                                                                                              \
        sqlite3_vfs *below = ((struct wal_vfs *)vfs->pAppData)->below;                             \
        return below->method arguments;                                                            \
    }
PASS(delete_file, xDelete, (sqlite3_vfs * vfs, const char *name, int sync), (below, name, sync))
PASS(access_file, xAccess, (sqlite3_vfs * vfs, const char *name, int flags, int *result),
     (below, name, flags, result))
PASS(full_name, xFullPathname, (sqlite3_vfs * vfs, const char *name, int size, char *out),
     (below, name, size, out))
PASS(randomness, xRandomness, (sqlite3_vfs * vfs, int size, char *out), (below, size, out))
PASS(sleep_us, xSleep, (sqlite3_vfs * vfs, int microseconds), (below, microseconds))
PASS(current_time, xCurrentTime, (sqlite3_vfs * vfs, double *now), (below, now))
PASS(last_error, xGetLastError, (sqlite3_vfs * vfs, int size, char *out), (below, size, out))
#undef PASS

int wal_vfs_new(struct wal_vfs **out, const char *below_name, struct pitot_error *error)
{
    static atomic_ulong last;
    *out = NULL;
    sqlite3_vfs *below = sqlite3_vfs_find(below_name);
    if (below == NULL) {
        return 0;
    }
    struct wal_vfs *wal = malloc(sizeof *wal);
    if (wal == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    wal->below = below;
    wal->file = NULL;
    wal->start = 0;
    wal->held = 0;
    wal->commit = false;
    /* Another copy of this library in the process has this variable elsewhere. */
    snprintf(wal->name, sizeof wal->name, "pitot-wal-%p-%lu", (void *)&last,
             atomic_fetch_add(&last, 1) + 1);
    wal->vfs = (sqlite3_vfs){.iVersion = 1,
                             .szOsFile = (int)sizeof(struct handle) + below->szOsFile,
                             .mxPathname = below->mxPathname,
                             .zName = wal->name,
                             .pAppData = wal,
                             .xOpen = open_file,
                             .xDelete = delete_file,
                             .xAccess = access_file,
                             .xFullPathname = full_name,
                             .xRandomness = randomness,
                             .xSleep = sleep_us,
                             .xCurrentTime = current_time,
                             .xGetLastError = last_error};
    if (sqlite3_vfs_register(&wal->vfs, 0) != SQLITE_OK) {
        free(wal);
        return failure(error, PITOT_ERROR_MEMORY, "SQLite took no VFS for the WAL");
    }
    *out = wal;
    return 0;
}

const char *wal_vfs_name(const struct wal_vfs *wal)
{
    return wal->name;
}

static void after_rollback(void *wal)
{
    ((struct wal_vfs *)wal)->held = 0;
}

void wal_vfs_watch(struct wal_vfs *wal, sqlite3 *db)
{
    sqlite3_rollback_hook(db, after_rollback, wal);
}

void wal_vfs_free(struct wal_vfs *wal)
{
    if (wal != NULL) {
        sqlite3_vfs_unregister(&wal->vfs);
        free(wal);
    }
}
