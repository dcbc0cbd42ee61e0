/* What tests of one source share: a store, and a source that a test adds to it. */
#ifndef TESTS_LIB_ONE_SOURCE_H
#define TESTS_LIB_ONE_SOURCE_H

#include "library.h"

struct fixture {
    struct pitot_store *store;
    struct lister lister;
    struct pitot_source *source;
};

static inline int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->store = open_store();
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pitot_store_close(fixture->store, PATIENCE_MS, NULL); /* a function may be in the lister yet */
    pitot_store_free(fixture->store);
    free(fixture);
    return remove_test_folder(state);
}

static inline struct pitot_sync sync_row(struct pitot_store *store, const char *source)
{
    struct pitot_reader *reader = NULL;
    struct pitot_sync sync = {.size = sizeof sync};
    assert_ok(pitot_reader_open(store, "test", &reader, &error));
    if (pitot_reader_sync(reader, source, &sync, NULL) != 1) {
        sync.pass = 0;
    }
    pitot_reader_free(reader);
    return sync;
}

#endif
