#include "lib/event.h"

#include "lib/extend.h"
#include "lib/source.h"
#include "lib/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A source's place in a queue. The order of its two events: an opening that came before the closing
 * is of a pass that the closing tells of; one that came after it is of the pass that runs now. */
struct slot {
    struct slot *next;   /* of all slots of the subscription */
    struct slot *behind; /* in the queue */
    struct pitot_source *source;
    bool queued;
    bool opening_first;
    uint64_t opening; /* number of the pass; 0: none */
    bool has_closing;
    struct pitot_event closing;
};

struct pitot_subscription {
    struct pitot_store *store;
    struct pitot_subscription *next;
    int descriptor; /* eventfd, not 0 while the queue is not empty or the store is closed */
    struct slot *slots;
    struct slot *first; /* the queue: sources in the order of their oldest event */
    struct slot **end;  /* where the next one goes */
    bool closed;
};

static int add_slot(struct pitot_subscription *subscription, struct pitot_source *source,
                    struct pitot_error *error)
{
    struct slot *slot = calloc(1, sizeof *slot);
    if (slot == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    slot->source = source;
    slot->next = subscription->slots;
    subscription->slots = slot;
    return 0;
}

static struct slot *find_slot(struct pitot_subscription *subscription, struct pitot_source *source)
{
    struct slot *slot = subscription->slots;
    while (slot != NULL && slot->source != source) {
        slot = slot->next;
    }
    return slot;
}

int event_add_source(struct pitot_store *store, struct pitot_source *source,
                     struct pitot_error *error)
{
    for (struct pitot_subscription *at = store->subscriptions; at != NULL; at = at->next) {
        int result = add_slot(at, source, error);
        if (result != 0) {
            event_remove_source(store, source);
            return result;
        }
    }
    return 0;
}

/* Before the source has posted anything: its slots are in no queue. */
void event_remove_source(struct pitot_store *store, struct pitot_source *source)
{
    for (struct pitot_subscription *at = store->subscriptions; at != NULL; at = at->next) {
        struct slot **link = &at->slots;
        while (*link != NULL && (*link)->source != source) {
            link = &(*link)->next;
        }
        if (*link != NULL) {
            struct slot *slot = *link;
            *link = slot->next;
            free(slot);
        }
    }
}

/* An eventfd of which less than 2^64 - 1 was written cannot fail. */
static void signal_descriptor(const struct pitot_subscription *subscription)
{
    const uint64_t one = 1;
    ssize_t written = write(subscription->descriptor, &one, sizeof one);
    (void)written;
}

static void put(struct pitot_subscription *subscription, struct slot *slot)
{
    if (slot->queued) {
        return;
    }
    bool was_empty = subscription->first == NULL;
    slot->queued = true;
    slot->behind = NULL;
    *subscription->end = slot;
    subscription->end = &slot->behind;
    if (was_empty && !subscription->closed) {
        signal_descriptor(subscription);
    }
}

void event_post_opening(struct pitot_store *store, struct pitot_source *source, uint64_t pass)
{
    for (struct pitot_subscription *at = store->subscriptions; at != NULL; at = at->next) {
        struct slot *slot = find_slot(at, source);
        if (slot == NULL) {
            continue; /* cannot be: both a new source and a new queue make it */
        }
        /* An opening that is still here is of an earlier pass: its closing is here as well. */
        slot->opening = pass;
        slot->opening_first = !slot->has_closing;
        put(at, slot);
    }
}

static void fill_closing(struct pitot_event *event, struct pitot_source *source,
                         const struct pass_end *end)
{
    event->size = sizeof *event;
    event->kind = PITOT_CLOSING;
    event->source = source;
    event->source_name = source->name;
    event->first_pass = end->pass;
    event->counts = (struct pitot_counts){0};
    event->commit_sequence = 0;
    event->failed = 0;
    event->error_code = 0;
    event->error_text[0] = '\0';
}

uint64_t event_post_closing(struct pitot_store *store, struct pitot_source *source,
                            const struct pass_end *end)
{
    uint64_t joined = 0;
    for (struct pitot_subscription *at = store->subscriptions; at != NULL; at = at->next) {
        struct slot *slot = find_slot(at, source);
        if (slot == NULL) {
            continue;
        }
        struct pitot_event *event = &slot->closing;
        if (slot->has_closing) {
            joined++;
            slot->opening = 0; /* of a pass that the joined closing tells of */
        } else {
            fill_closing(event, source, end);
            slot->has_closing = true;
        }
        event->last_pass = end->pass;
        event->counts.inserted += end->counts.inserted;
        event->counts.updated += end->counts.updated;
        event->counts.deleted += end->counts.deleted;
        event->counts.unchanged += end->counts.unchanged;
        if (end->commit_sequence != 0) {
            event->commit_sequence = end->commit_sequence;
        }
        if (end->error->code != 0) {
            event->failed++;
            event->error_code = end->error->code;
            memcpy(event->error_text, end->error->message, sizeof event->error_text);
        }
        put(at, slot);
    }
    return joined;
}

void event_post_closed(struct pitot_store *store)
{
    for (struct pitot_subscription *at = store->subscriptions; at != NULL; at = at->next) {
        at->closed = true;
        signal_descriptor(at);
    }
}

static void free_slots(struct pitot_subscription *subscription)
{
    while (subscription->slots != NULL) {
        struct slot *slot = subscription->slots;
        subscription->slots = slot->next;
        free(slot);
    }
}

int pitot_subscribe(struct pitot_store *store, struct pitot_subscription **subscription,
                    struct pitot_error *error)
{
    if (store == NULL || subscription == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no store or no place for the subscription");
    }
    *subscription = NULL;
    int result = store_check(store, error);
    if (result != 0) {
        return result;
    }
    struct pitot_subscription *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    made->store = store;
    made->end = &made->first;
    made->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->descriptor < 0) {
        result = failure_errno(error, errno, "making a descriptor for events");
        free(made);
        return result;
    }
    pthread_mutex_lock(&store->mutex);
    result = store_check(store, error); /* closing may have begun in between */
    for (struct pitot_source *at = store->sources; at != NULL && result == 0; at = at->next) {
        result = add_slot(made, at, error);
    }
    if (result == 0) {
        made->next = store->subscriptions;
        store->subscriptions = made;
        store_retain(store);
    }
    pthread_mutex_unlock(&store->mutex);
    if (result != 0) {
        free_slots(made);
        close(made->descriptor);
        free(made);
        return result;
    }
    *subscription = made;
    return 0;
}

int pitot_subscription_descriptor(const struct pitot_subscription *subscription)
{
    return subscription->descriptor;
}

/* Takes the oldest event of the first slot; the queue is not empty. */
static void take(struct pitot_subscription *subscription, struct pitot_event *event)
{
    struct slot *slot = subscription->first;
    if (slot->opening != 0 && (slot->opening_first || !slot->has_closing)) {
        *event = (struct pitot_event){.kind = PITOT_OPENING,
                                      .source = slot->source,
                                      .source_name = slot->source->name,
                                      .first_pass = slot->opening,
                                      .last_pass = slot->opening};
        slot->opening = 0;
    } else {
        *event = slot->closing;
        slot->has_closing = false;
    }
    if (slot->opening == 0 && !slot->has_closing) {
        subscription->first = slot->behind;
        slot->queued = false;
        if (subscription->first == NULL) {
            subscription->end = &subscription->first;
        }
    }
    if (subscription->first == NULL && !subscription->closed) {
        uint64_t count;
        ssize_t got = read(subscription->descriptor, &count, sizeof count);
        (void)got; /* not 0 by now, and nobody else reads it */
    }
}

int pitot_event_next(struct pitot_subscription *subscription, struct pitot_event *event)
{
    if (subscription == NULL || event == NULL || event->size < sizeof(struct pitot_event)) {
        return PITOT_ERROR_INVALID;
    }
    struct pitot_store *store = subscription->store;
    if (process_forked(store->process)) {
        return PITOT_ERROR_FORKED;
    }
    struct pitot_event taken;
    int result = 0;
    pthread_mutex_lock(&store->mutex);
    if (subscription->first != NULL) {
        take(subscription, &taken);
        result = 1;
    } else if (subscription->closed) {
        result = PITOT_ERROR_CLOSED;
    }
    pthread_mutex_unlock(&store->mutex);
    if (result == 1) {
        extend_out(event, event->size, &taken, sizeof taken);
    }
    return result;
}

void pitot_subscription_free(struct pitot_subscription *subscription)
{
    if (subscription == NULL || process_forked(subscription->store->process)) {
        return;
    }
    struct pitot_store *store = subscription->store;
    pthread_mutex_lock(&store->mutex);
    struct pitot_subscription **link = &store->subscriptions;
    while (*link != subscription) {
        link = &(*link)->next;
    }
    *link = subscription->next;
    pthread_mutex_unlock(&store->mutex);
    free_slots(subscription);
    close(subscription->descriptor);
    free(subscription);
    store_release(store);
}
