/*
 * A VFS that passes everything on to SQLite's default one and fails when it is told to: the n-th
 * operation of a kind, once or from then on, with a result of the test's choice.
 */
#ifndef TESTS_LIB_FAULTY_VFS_H
#define TESTS_LIB_FAULTY_VFS_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum faulty_kind {
    FAULTY_OPEN,
    FAULTY_READ,
    FAULTY_WRITE,
    FAULTY_SYNC,
    FAULTY_TRUNCATE,
    FAULTY_SHM_MAP,
    FAULTY_SHM_LOCK,
    FAULTY_LOCK,
    FAULTY_KINDS
};

static struct {
    atomic_int kind; /* FAULTY_KINDS: none fails */
    atomic_long left;
    atomic_bool for_ever;
    atomic_int result;
    atomic_long failed; /* how often */
} faulty = {.kind = FAULTY_KINDS};

struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static inline void faulty_arm(enum faulty_kind kind, long nth, bool for_ever, int result)
{
    faulty.kind = FAULTY_KINDS;
    faulty.left = nth;
    faulty.for_ever = for_ever;
    faulty.result = result;
    faulty.failed = 0;
    faulty.kind = (int)kind;
}

static inline void faulty_disarm(void)
{
    faulty.kind = FAULTY_KINDS;
}

/* The result to give, or SQLITE_OK to go on. */
static inline int faulty_check(enum faulty_kind kind)
{
    if (faulty.kind != (int)kind) {
        return SQLITE_OK;
    }
    long left = atomic_fetch_sub(&faulty.left, 1);
    if (left > 1 || (left < 1 && !faulty.for_ever)) {
        return SQLITE_OK;
    }
    atomic_fetch_add(&faulty.failed, 1);
    return faulty.result;
}

#define FAULTY_REAL(file) (((struct faulty_file *)(file))->real)
/* A method that counts, one that only passes on. */
#define FAULTY_METHOD(name, kind, parameters, arguments)                                           \
    static inline int faulty_##name parameters                                                     \
    {                                                                                              \
        int rc = faulty_check(kind);                                                               \
        return rc != SQLITE_OK ? rc : FAULTY_REAL(file)->pMethods->name arguments;                 \
    }
#define FAULTY_PASS(type, name, parameters, arguments)                                             \
    static inline type faulty_##name parameters                                                    \
    {                                                                                              \
        return FAULTY_REAL(file)->pMethods->name arguments;                                        \
    }

FAULTY_METHOD(xRead, FAULTY_READ, (sqlite3_file * file, void *bytes, int size, sqlite3_int64 at),
              (FAULTY_REAL(file), bytes, size, at))
FAULTY_METHOD(xWrite, FAULTY_WRITE,
              (sqlite3_file * file, const void *bytes, int size, sqlite3_int64 at),
              (FAULTY_REAL(file), bytes, size, at))
FAULTY_METHOD(xTruncate, FAULTY_TRUNCATE, (sqlite3_file * file, sqlite3_int64 size),
              (FAULTY_REAL(file), size))
FAULTY_METHOD(xSync, FAULTY_SYNC, (sqlite3_file * file, int flags), (FAULTY_REAL(file), flags))
FAULTY_METHOD(xLock, FAULTY_LOCK, (sqlite3_file * file, int lock), (FAULTY_REAL(file), lock))
FAULTY_METHOD(xShmMap, FAULTY_SHM_MAP,
              (sqlite3_file * file, int page, int size, int extend, void volatile **memory),
              (FAULTY_REAL(file), page, size, extend, memory))
FAULTY_PASS(int, xFileSize, (sqlite3_file * file, sqlite3_int64 *size), (FAULTY_REAL(file), size))
FAULTY_PASS(int, xUnlock, (sqlite3_file * file, int lock), (FAULTY_REAL(file), lock))
FAULTY_PASS(int, xCheckReservedLock, (sqlite3_file * file, int *found), (FAULTY_REAL(file), found))
FAULTY_PASS(int, xFileControl, (sqlite3_file * file, int what, void *argument),
            (FAULTY_REAL(file), what, argument))
FAULTY_PASS(int, xSectorSize, (sqlite3_file * file), (FAULTY_REAL(file)))
FAULTY_PASS(int, xDeviceCharacteristics, (sqlite3_file * file), (FAULTY_REAL(file)))
FAULTY_PASS(int, xShmUnmap, (sqlite3_file * file, int remove), (FAULTY_REAL(file), remove))

static inline void faulty_xShmBarrier(sqlite3_file *file)
{
    FAULTY_REAL(file)->pMethods->xShmBarrier(FAULTY_REAL(file));
}

/* Giving a lock back does not fail. */
static inline int faulty_xShmLock(sqlite3_file *file, int offset, int count, int flags)
{
    int rc = (flags & SQLITE_SHM_LOCK) != 0 ? faulty_check(FAULTY_SHM_LOCK) : SQLITE_OK;
    return rc != SQLITE_OK
               ? rc
               : FAULTY_REAL(file)->pMethods->xShmLock(FAULTY_REAL(file), offset, count, flags);
}

static inline int faulty_xClose(sqlite3_file *file)
{
    return FAULTY_REAL(file)->pMethods == NULL
               ? SQLITE_OK
               : FAULTY_REAL(file)->pMethods->xClose(FAULTY_REAL(file));
}

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = faulty_xClose,
    .xRead = faulty_xRead,
    .xWrite = faulty_xWrite,
    .xTruncate = faulty_xTruncate,
    .xSync = faulty_xSync,
    .xFileSize = faulty_xFileSize,
    .xLock = faulty_xLock,
    .xUnlock = faulty_xUnlock,
    .xCheckReservedLock = faulty_xCheckReservedLock,
    .xFileControl = faulty_xFileControl,
    .xSectorSize = faulty_xSectorSize,
    .xDeviceCharacteristics = faulty_xDeviceCharacteristics,
    .xShmMap = faulty_xShmMap,
    .xShmLock = faulty_xShmLock,
    .xShmBarrier = faulty_xShmBarrier,
    .xShmUnmap = faulty_xShmUnmap,
};

static sqlite3_vfs *faulty_real;
static sqlite3_vfs faulty_vfs;

static inline int faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file,
                              int flags, int *out_flags)
{
    (void)vfs;
    struct faulty_file *made = (struct faulty_file *)file;
    made->base.pMethods = NULL;
    made->real = (sqlite3_file *)(made + 1);
    made->real->pMethods = NULL;
    int rc = faulty_check(FAULTY_OPEN);
    if (rc == SQLITE_OK) {
        rc = faulty_real->xOpen(faulty_real, name, made->real, flags, out_flags);
    }
    if (rc == SQLITE_OK) {
        made->base.pMethods = &faulty_methods;
    }
    return rc;
}

/* Registers it under the name "faulty". */
static inline void faulty_register(void)
{
    if (faulty_real == NULL) {
        faulty_real = sqlite3_vfs_find(NULL);
        faulty_vfs = *faulty_real;
        faulty_vfs.zName = "faulty";
        faulty_vfs.szOsFile = (int)sizeof(struct faulty_file) + faulty_real->szOsFile;
        faulty_vfs.xOpen = faulty_open;
        faulty_vfs.pNext = NULL;
        sqlite3_vfs_register(&faulty_vfs, 0);
    }
}

#endif
