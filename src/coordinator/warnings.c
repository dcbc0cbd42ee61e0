/* What a reader of the numbers must be told: one function a rule. */
#include "coordinator/measurement.h"

#include "coordinator/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steal and the CPU used by others may take this share of all cores unmentioned. */
#define HOST_SHARE_MAX 0.05
/* A sum of latencies may exceed connections × window by this: clock resolution. */
#define WINDOW_TOLERANCE 1.001

static int warn_build(struct measurement *m)
{
    const char *build = m->result->build;
    if (build == NULL || strcmp(build, "release") == 0) {
        return 0;
    }
    return result_warn(m->result, NULL, "pitot is a %s build: these numbers mean nothing", build);
}

static int warn_cores(struct measurement *m)
{
    uint32_t connections = job_connections(m->plan);
    uint64_t cores = m->result->host.cores;
    if (cores == 0 || connections <= cores) {
        return 0;
    }
    return result_warn(m->result, NULL,
                       "%u connections share %" PRIu64
                       " cores: latencies hold the wait for a core, not the engine alone",
                       connections, cores);
}

static int warn_page_cache(struct measurement *m)
{
    uint64_t available = m->result->host.memory_available_bytes;
    if (!m->has_template || available == 0 || m->template.bytes >= available) {
        return 0;
    }
    return result_warn(m->result, NULL,
                       "the data set (%.1f MB) fits the page cache: reads never waited for a disk",
                       (double)m->template.bytes / 1e6);
}

static int warn_file_system(struct measurement *m)
{
    static const char *const memory[] = {"tmpfs", "ramfs", NULL};
    static const char *const network[] = {"nfs",  "nfs4",     "cifs", "smb3", "9p",
                                          "fuse", "virtiofs", "ceph", NULL};
    const char *type = m->result->host.file_system;
    for (size_t i = 0; type != NULL && memory[i] != NULL; i++) {
        if (strcmp(type, memory[i]) == 0) {
            return result_warn(m->result, NULL,
                               "the data folder is on %s: syncs and writes cost nothing there",
                               type);
        }
    }
    for (size_t i = 0; type != NULL && network[i] != NULL; i++) {
        if (strncmp(type, network[i], strlen(network[i])) == 0) {
            return result_warn(m->result, NULL,
                               "the data folder is on %s: locks and syncs go over a network or "
                               "another program",
                               type);
        }
    }
    return 0;
}

static int warn_host(struct measurement *m, const struct result_engine *engine)
{
    double others = 0;
    double steal = 0;
    uint64_t dirty = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        others = fmax(others, isnan(run->cpu_others) ? 0 : run->cpu_others);
        steal = fmax(steal, isnan(run->steal) ? 0 : run->steal);
        if (run->dirty_bytes != RESULT_ABSENT && run->dirty_bytes > dirty) {
            dirty = run->dirty_bytes;
        }
    }
    int status = 0;
    if (others > HOST_SHARE_MAX) {
        status = result_warn(m->result, engine->name,
                             "other programs used %.0f %% of the cores during a run", others * 100);
    }
    if (status == 0 && steal > HOST_SHARE_MAX) {
        status = result_warn(m->result, engine->name,
                             "the hypervisor took %.0f %% of the cores during a run", steal * 100);
    }
    if (status == 0 && dirty > CONDITIONS_DIRTY_MAX) {
        status = result_warn(m->result, engine->name,
                             "%.0f MB were still to be written back when a run began",
                             (double)dirty / 1e6);
    }
    return status;
}

/* The first connection that did not take a required setting, by setting. */
static int warn_settings(struct measurement *m, size_t index)
{
    struct result_engine *engine = &m->result->engines.items[index];
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        for (size_t k = 0; k < run->connections.count; k++) {
            const result_settings *settings = &run->connections.items[k].settings;
            for (size_t s = 0; s < settings->count; s++) {
                const struct result_setting *setting = &settings->items[s];
                if (setting->agrees || (!setting->required && setting->got == NULL)) {
                    continue;
                }
                int status = result_warn(
                    m->result, engine->name, "%s: asked for %s, got %s%s", setting->name,
                    setting->asked, setting->got != NULL ? setting->got : "nothing",
                    setting->required ? "; not comparable with engines that took it" : "");
                if (status != 0) {
                    return status;
                }
                if (setting->required && strcmp(engine->status, "ok") == 0) {
                    free(engine->status);
                    engine->status = strdup("differs");
                }
            }
        }
    }
    return 0;
}

/* A suite whose queries find nothing is fast and worthless. */
static int warn_scripts(struct measurement *m, const struct result_engine *engine)
{
    int status = 0;
    const size_t scripts = engine->runs.count > 0 ? engine->runs.items[0].scripts.count : 0;
    for (size_t s = 0; s < scripts && status == 0; s++) {
        const struct result_script *first = &engine->runs.items[0].scripts.items[s];
        uint64_t ok = 0;
        uint64_t rows = 0;
        uint64_t failed = 0;
        const char *message = NULL;
        for (size_t i = 0; i < engine->runs.count; i++) {
            if (s >= engine->runs.items[i].scripts.count) {
                continue;
            }
            const struct result_script *script = &engine->runs.items[i].scripts.items[s];
            ok += script->ok;
            rows += script->rows_read + script->rows_changed;
            failed += script->failed;
            if (message == NULL && script->errors.count > 0) {
                message = script->errors.items[0];
            }
        }
        if (ok > 0 && rows == 0) {
            status = result_warn(m->result, engine->name, "%s never touched a row", first->script);
        }
        if (status == 0 && failed > 0) {
            status = result_warn(m->result, engine->name, "%s failed %" PRIu64 " times: %s",
                                 first->script, failed, message ? message : "no reason given");
        }
    }
    return status;
}

/* ops/s × mean latency cannot exceed the connections: a wrong window shows here first. */
static int warn_window(struct measurement *m, const struct result_engine *engine)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        double busy = 0;
        for (size_t s = 0; s < run->scripts.count; s++) {
            busy += (double)run->scripts.items[s].time_ns;
        }
        double most = (double)run->window_ns * (double)run->connections.count;
        if (run->status != NULL && strcmp(run->status, "ok") == 0 &&
            busy > most * WINDOW_TOLERANCE) {
            return result_warn(m->result, engine->name,
                               "round %" PRIu64
                               ": latencies add up to %.3f times connections × window; the window "
                               "is wrong and so are its rates",
                               run->round, busy / most);
        }
    }
    return 0;
}

static int warn_null(struct measurement *m, size_t index)
{
    if (!m->plan->engines->items[index].manifest->no_database) {
        return 0;
    }
    return result_warn(m->result, m->result->engines.items[index].name,
                       "it stores nothing and answers nothing: its row is what pitot itself costs");
}

int measurement_warn(struct measurement *m, struct error *error)
{
    int status = warn_build(m);
    status = status == 0 ? warn_cores(m) : status;
    status = status == 0 ? warn_page_cache(m) : status;
    status = status == 0 ? warn_file_system(m) : status;
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        bool no_database = m->plan->engines->items[i].manifest->no_database;
        status = warn_null(m, i);
        status = status == 0 ? warn_host(m, engine) : status;
        status = status == 0 ? warn_settings(m, i) : status;
        status = status == 0 && !no_database ? warn_scripts(m, engine) : status;
        status = status == 0 ? warn_window(m, engine) : status;
    }
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for warnings");
}
