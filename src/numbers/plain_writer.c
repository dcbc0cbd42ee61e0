#include "numbers/plain_writer.h"

static void *write_passes(void *context)
{
    struct plain_writer *writer = context;
    uint64_t round = 0;
    while (!atomic_load(&writer->stop) && writer->status == 0) {
        bool busy = false;
        rows_change(writer->rows, writer->rows->count, ++round);
        writer->status = plain_pass(writer->plain, writer->rows, &busy, &writer->error);
        writer->busy += busy ? 1 : 0;
        atomic_fetch_add(&writer->passes, writer->status == 0 && !busy ? 1 : 0);
    }
    return NULL;
}

int plain_writer_begin(struct plain_writer *writer, struct plain *plain, struct rows *rows,
                       struct error *error)
{
    *writer = (struct plain_writer){.plain = plain, .rows = rows};
    atomic_init(&writer->stop, false);
    atomic_init(&writer->passes, 0);
    int failed = pthread_create(&writer->thread, NULL, write_passes, writer);
    return failed == 0 ? 0 : error_errno(error, failed, "cannot start the writer's thread");
}

int plain_writer_end(struct plain_writer *writer, struct error *error)
{
    atomic_store(&writer->stop, true);
    pthread_join(writer->thread, NULL);
    return writer->status == 0
               ? 0
               : error_set(error, (enum error_code)writer->status, "%s", writer->error.message);
}
