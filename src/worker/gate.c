#include "worker/gate.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int gate_init(struct gate *gate, struct error *error)
{
    *gate = (struct gate){.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (gate->wake_fd < 0) {
        return error_errno(error, errno, "cannot make an eventfd");
    }
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
    return 0;
}

void gate_release(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
    close(gate->wake_fd);
}

static void wake(const struct gate *gate)
{
    /* Fails only when the counter is full: then the main thread has been woken anyway. */
    eventfd_write(gate->wake_fd, 1);
}

bool gate_wait(struct gate *gate, enum gate_stage stage)
{
    pthread_mutex_lock(&gate->mutex);
    if (!gate->ended && gate->stage < stage) {
        gate->waiting++;
        if (gate->waiting + gate->left >= gate->threads) {
            wake(gate);
        }
    }
    while (!gate->ended && gate->stage < stage) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    bool open = !gate->ended;
    pthread_mutex_unlock(&gate->mutex);
    return open;
}

void gate_leave(struct gate *gate, void *failed)
{
    pthread_mutex_lock(&gate->mutex);
    gate->left++;
    if (gate->first_failed == NULL) {
        gate->first_failed = failed;
    }
    if (failed != NULL || gate->left >= gate->threads) {
        wake(gate);
    }
    pthread_mutex_unlock(&gate->mutex);
}

void gate_open(struct gate *gate, enum gate_stage stage)
{
    pthread_mutex_lock(&gate->mutex);
    gate->stage = stage;
    gate->waiting = 0;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

void gate_end(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->ended = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

struct gate_count gate_look(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    struct gate_count count = {gate->waiting, gate->left, gate->first_failed};
    pthread_mutex_unlock(&gate->mutex);
    return count;
}
