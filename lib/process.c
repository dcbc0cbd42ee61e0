#include "lib/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct entry {
    struct entry *next;
    const void *id;
    struct file_identity file;
};

struct process {
    pthread_mutex_t mutex;
    struct entry *entries;
};

/* Never freed: a handle compares it with its own for as long as the process lives. */
static _Atomic(struct process *) current;
/* Inherited by a child, and then never 0 again. */
static atomic_ulong handles;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_result;

static void in_child(void)
{
    atomic_store(&current, NULL);
}

static void watch_forks(void)
{
    once_result = pthread_atfork(NULL, NULL, in_child);
}

int process_enter(struct process **process, struct pitot_error *error)
{
    pthread_once(&once, watch_forks);
    if (once_result != 0) {
        return failure_errno(error, once_result, "pthread_atfork");
    }
    struct process *found = atomic_load(&current);
    if (found == NULL) {
        if (atomic_load(&handles) != 0) {
            return failure(error, PITOT_ERROR_FORKED,
                           "the parent of this process had stores or readers open; the child may "
                           "use the library after exec only");
        }
        struct process *made = malloc(sizeof *made);
        if (made == NULL) {
            return failure(error, PITOT_ERROR_MEMORY, "out of memory");
        }
        pthread_mutex_init(&made->mutex, NULL);
        made->entries = NULL;
        if (atomic_compare_exchange_strong(&current, &found, made)) {
            found = made;
        } else {
            pthread_mutex_destroy(&made->mutex);
            free(made);
        }
    }
    atomic_fetch_add(&handles, 1);
    *process = found;
    return 0;
}

void process_leave(struct process *process)
{
    (void)process; /* counted for all alike */
    atomic_fetch_sub(&handles, 1);
}

bool process_forked(const struct process *process)
{
    return atomic_load_explicit(&current, memory_order_relaxed) != process;
}

void process_lock(struct process *process)
{
    pthread_mutex_lock(&process->mutex);
}

void process_unlock(struct process *process)
{
    pthread_mutex_unlock(&process->mutex);
}

bool process_has(const struct process *process, struct file_identity file)
{
    for (const struct entry *entry = process->entries; entry != NULL; entry = entry->next) {
        if (entry->file.device == file.device && entry->file.inode == file.inode) {
            return true;
        }
    }
    return false;
}

int process_add(struct process *process, const void *id, struct file_identity file,
                struct pitot_error *error)
{
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    entry->id = id;
    entry->file = file;
    entry->next = process->entries;
    process->entries = entry;
    return 0;
}

void process_remove(struct process *process, const void *id)
{
    struct entry **link = &process->entries;
    while (*link != NULL) {
        struct entry *entry = *link;
        if (entry->id == id) {
            *link = entry->next;
            free(entry);
        } else {
            link = &entry->next;
        }
    }
}
