#include "lib/image_vfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* SQLite's handle of an image. Read-only; no locks, since it changes between transactions only. */
struct handle {
    sqlite3_file base;
    struct image_file *file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image_file *files;
static uint64_t last_number;

static int close_file(sqlite3_file *file)
{
    struct image_file *image = ((struct handle *)file)->file;
    file->pMethods = NULL;
    image->open = false;
    if (image->closed != NULL) {
        image->closed(image);
    }
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset)
{
    const struct image_pages *pages = ((struct handle *)file)->file->pages;
    uint32_t number = (uint32_t)(offset / PAGES_SIZE) + 1;
    size_t begin = (size_t)(offset % PAGES_SIZE);
    const uint8_t *page = image_pages_get(pages, number);
    if (begin + (size_t)amount > PAGES_SIZE || number > image_pages_size(pages)) {
        memset(out, 0, (size_t)amount);
        return SQLITE_IOERR_SHORT_READ;
    }
    if (page != NULL) {
        memcpy(out, page + begin, (size_t)amount);
    } else if (amount == PAGES_SIZE) {
        image_pages_big(pages, number, out);
    } else {
        memset(out, 0, (size_t)amount);
    }
    return SQLITE_OK;
}

static int fetch_file(sqlite3_file *file, sqlite3_int64 offset, int amount, void **out)
{
    const struct image_pages *pages = ((struct handle *)file)->file->pages;
    uint8_t *page = image_pages_get(pages, (uint32_t)(offset / PAGES_SIZE) + 1);
    bool whole = offset % PAGES_SIZE == 0 && amount == PAGES_SIZE;
    /* SQLite only reads through the pointer: the file is read-only. */
    *out = whole ? page : NULL;
    return SQLITE_OK;
}

static int unfetch_file(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    (void)file;
    (void)offset;
    (void)page;
    return SQLITE_OK;
}

static int write_file(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset)
{
    (void)file;
    (void)in;
    (void)amount;
    (void)offset;
    return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    (void)file;
    (void)size;
    return SQLITE_READONLY;
}

static int nothing(sqlite3_file *file, int argument)
{
    (void)file;
    (void)argument;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)image_pages_size(((struct handle *)file)->file->pages) * PAGES_SIZE;
    return SQLITE_OK;
}

static int reserved(sqlite3_file *file, int *result)
{
    (void)file;
    *result = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static int characteristics(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods methods = {.iVersion = 3,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = write_file,
                                           .xTruncate = truncate_file,
                                           .xSync = nothing,
                                           .xFileSize = file_size,
                                           .xLock = nothing,
                                           .xUnlock = nothing,
                                           .xCheckReservedLock = reserved,
                                           .xFileControl = control,
                                           .xSectorSize = sector_size,
                                           .xDeviceCharacteristics = characteristics,
                                           .xFetch = fetch_file,
                                           .xUnfetch = unfetch_file};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    (void)vfs;
    file->pMethods = NULL;
    size_t prefix = strlen(IMAGE_VFS_PATH);
    if (name == NULL || (flags & SQLITE_OPEN_MAIN_DB) == 0 ||
        strncmp(name, IMAGE_VFS_PATH, prefix) != 0) {
        return SQLITE_CANTOPEN;
    }
    uint64_t number = strtoull(name + prefix, NULL, 10);
    pthread_mutex_lock(&lock);
    for (struct image_file *f = files; f != NULL; f = f->next) {
        if (f->number == number && !f->open) {
            f->open = true;
            ((struct handle *)file)->file = f;
            file->pMethods = &methods;
        }
    }
    pthread_mutex_unlock(&lock);
    if (out_flags != NULL) {
        *out_flags = SQLITE_OPEN_READONLY;
    }
    return file->pMethods != NULL ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *result = 0; /* neither journal nor WAL */
    return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* What has nothing to do with files is the default VFS's. */
static int randomness(sqlite3_vfs *vfs, int size, char *out)
{
    sqlite3_vfs *other = vfs->pAppData;
    return other->xRandomness(other, size, out);
}

static int sleep_us(sqlite3_vfs *vfs, int microseconds)
{
    sqlite3_vfs *other = vfs->pAppData;
    return other->xSleep(other, microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *now)
{
    sqlite3_vfs *other = vfs->pAppData;
    return other->xCurrentTime(other, now);
}

static int last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    if (size > 0) {
        out[0] = '\0';
    }
    return 0;
}

static char vfs_name[48];
static sqlite3_vfs vfs = {.iVersion = 1,
                          .szOsFile = sizeof(struct handle),
                          .mxPathname = 64,
                          .zName = vfs_name,
                          .xOpen = open_file,
                          .xDelete = delete_file,
                          .xAccess = access_file,
                          .xFullPathname = full_name,
                          .xRandomness = randomness,
                          .xSleep = sleep_us,
                          .xCurrentTime = current_time,
                          .xGetLastError = last_error};

const char *image_vfs_name(void)
{
    pthread_mutex_lock(&lock);
    if (vfs_name[0] == '\0') { /* afterwards others read it without the lock */
        snprintf(vfs_name, sizeof vfs_name, "pitot-image-%p", (void *)&vfs);
    }
    /* Asked each time, since sqlite3_shutdown() forgets it. */
    bool known = sqlite3_vfs_find(vfs_name) == &vfs;
    if (!known) {
        vfs.pAppData = sqlite3_vfs_find(NULL);
        known = vfs.pAppData != NULL && sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
    }
    pthread_mutex_unlock(&lock);
    return known ? vfs_name : NULL;
}

void image_vfs_add(struct image_file *file)
{
    pthread_mutex_lock(&lock);
    file->number = ++last_number;
    file->next = files;
    files = file;
    pthread_mutex_unlock(&lock);
}

void image_vfs_remove(struct image_file *file)
{
    pthread_mutex_lock(&lock);
    struct image_file **link = &files;
    while (*link != NULL && *link != file) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = file->next;
    }
    pthread_mutex_unlock(&lock);
}
