/* What a reader of the numbers must be told: of the build, the host, the settings; and all of it in
 * one order. */
#include "coordinator/warnings.h"

#include "coordinator/job.h"
#include "coordinator/measurement.h"
#include "result/rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    uint32_t connections = 0;
    for (size_t i = 0; i < m->plan->case_count; i++) {
        uint32_t own = job_connections(&m->cases[i].plan_case);
        connections = own > connections ? own : connections;
    }
    uint64_t cores = m->result->host.cores;
    if (cores == 0 || connections <= cores) {
        return 0;
    }
    return result_warn(m->result, NULL,
                       "%s%u connections share %" PRIu64
                       " cores: latencies hold the wait for a core, not the engine alone",
                       m->plan->case_count > 1 ? "up to " : "", connections, cores);
}

static int warn_page_cache(struct measurement *m)
{
    uint64_t available = m->result->host.memory_available_bytes;
    uint64_t largest = 0;
    for (size_t i = 0; i < m->templates.count; i++) {
        uint64_t bytes = m->templates.items[i]->file.bytes;
        if (available == 0 || bytes >= available) {
            return 0;
        }
        largest = bytes > largest ? bytes : largest;
    }
    if (m->templates.count == 0) {
        return 0;
    }
    return result_warn(m->result, NULL,
                       "the data set (%.1f MB) fits the page cache: reads never waited for a disk",
                       (double)largest / 1e6);
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
                if (setting->agrees) {
                    continue;
                }
                int status = result_warn(
                    m->result, engine->name, "%s: asked for %s, got %s%s", setting->name,
                    setting->asked, setting->got != NULL ? setting->got : "nothing",
                    setting->required ? "; not comparable with engines that took it" : "");
                if (status == 0 && setting->required) {
                    status = warnings_differs(m->result, engine, SIZE_MAX);
                }
                if (status != 0) {
                    return status;
                }
            }
        }
    }
    return 0;
}

/* fdatasync need not write the file's times: cheaper, and asked for less. */
static int warn_sync_calls(struct measurement *m)
{
    const struct result_engine *first = NULL;
    for (size_t i = 0; i < m->result->engines.count; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        if (engine->sync_call == NULL) {
            continue;
        }
        if (first == NULL) {
            first = engine;
        } else if (strcmp(first->sync_call, engine->sync_call) != 0) {
            return result_warn(m->result, NULL,
                               "%s syncs by %s, %s by %s: a commit or checkpoint that syncs does "
                               "not ask the same of the disk",
                               first->name, first->sync_call, engine->name, engine->sync_call);
        }
    }
    return 0;
}

/* Rounds that the host disturbed, and again when they were repeated. */
static int warn_rounds(struct measurement *m)
{
    double most = m->plan->comparison.disturbance_max;
    uint64_t rounds = 0;
    uint64_t disturbed = 0;
    for (size_t of = 0; most > 0 && of < m->plan->case_count; of++) {
        for (uint32_t round = 1; round <= m->plan->rounds; round++) {
            rounds++;
            disturbed += round_disturbed(m->result, of, round, most) ? 1 : 0;
        }
    }
    return disturbed == 0
               ? 0
               : result_warn(m->result, NULL,
                             "steal or the CPU of others exceeded %g %% in %" PRIu64 " of %" PRIu64
                             " rounds of a case, and they are in the figures: intervals are wide "
                             "for it; a host that does nothing else would show more",
                             most * 100, disturbed, rounds);
}

static int warn_null(struct measurement *m, size_t index)
{
    if (!m->plan->engines->items[index].manifest->no_database) {
        return 0;
    }
    return result_warn(m->result, m->result->engines.items[index].name,
                       "it stores nothing and answers nothing: its row is what pitot itself costs");
}

/* What is told of one engine in one case. */
static int warn_case(struct measurement *m, size_t index, size_t of)
{
    struct result *result = m->result;
    struct result_engine *engine = &result->engines.items[index];
    bool no_database = m->plan->engines->items[index].manifest->no_database;
    int status = warn_check(result, engine, of);
    status = status == 0 ? warn_window(result, engine, of) : status;
    status = status == 0 ? warn_saturated(result, engine, of) : status;
    status = status == 0 && !no_database ? warn_scripts(result, engine, of) : status;
    status = status == 0 ? warn_connections(result, engine, of) : status;
    return status == 0 ? warn_trend(result, engine, of) : status;
}

static int warn_engine(struct measurement *m, size_t index)
{
    int status = warn_null(m, index);
    status = status == 0 ? warn_settings(m, index) : status;
    for (size_t of = 0; of < m->plan->case_count && status == 0; of++) {
        status = warn_case(m, index, of);
    }
    return status;
}

int measurement_warn(struct measurement *m, struct error *error)
{
    size_t engines = m->result->engines.count;
    bool *exempt = calloc(engines + 1, sizeof *exempt);
    int status = exempt != NULL ? 0 : ERROR_MEMORY;
    status = status == 0 ? warn_build(m) : status;
    status = status == 0 ? warn_cores(m) : status;
    status = status == 0 ? warn_page_cache(m) : status;
    status = status == 0 ? warn_file_system(m) : status;
    status = status == 0 ? warn_sync_calls(m) : status;
    status = status == 0 ? warn_rounds(m) : status;
    status = status == 0 ? warn_rate(m->result) : status;
    for (size_t i = 0; i < engines && status == 0; i++) {
        exempt[i] = m->plan->engines->items[i].manifest->no_database;
        status = warn_engine(m, i);
    }
    status = status == 0 ? warn_host(m->result) : status;
    status = status == 0 ? warn_short(m->result, exempt) : status;
    status = status == 0 ? warn_thin(m->result, exempt) : status;
    free(exempt);
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for warnings");
}
