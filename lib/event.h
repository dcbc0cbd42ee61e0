/* Subscriptions: each a queue with at most one closing and one opening event a source. */
#ifndef PITOT_LIB_EVENT_H
#define PITOT_LIB_EVENT_H

#include "lib/error.h"

struct pitot_store;
struct pitot_source;

/* Room for a source in all queues, and for all sources in a new one, so that nothing is allocated
 * when a pass ends. With the store's mutex held. MEMORY: no queue has changed for others. */
int event_add_source(struct pitot_store *store, struct pitot_source *source,
                     struct pitot_error *error);
void event_remove_source(struct pitot_store *store, struct pitot_source *source);

/* How a pass has ended. */
struct pass_end {
    uint64_t pass;
    uint64_t commit_sequence; /* 0: nothing could be committed */
    struct pitot_counts counts;
    const struct pitot_error *error; /* code 0: it succeeded */
};

/* With the store's mutex held; never fail. */
void event_post_opening(struct pitot_store *store, struct pitot_source *source, uint64_t pass);
/* Returns the number of queues in which it was joined to an unread one. */
uint64_t event_post_closing(struct pitot_store *store, struct pitot_source *source,
                            const struct pass_end *end);
/* The store is closed: descriptors become readable for good. */
void event_post_closed(struct pitot_store *store);

#endif
