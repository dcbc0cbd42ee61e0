/* `pitot numbers`: what the library takes, beside the same work done with SQLite alone. */
#include "cli/common_options.h"
#include "cli/exit_status.h"
#include "cli/session.h"
#include "coordinator/interrupt.h"
#include "coordinator/numbers.h"

#include <stdlib.h>
#include <string.h>

struct numbers_options {
    struct prod_options common; /* first: common options lie in it */
    uint64_t rows;
    uint64_t length_ns;
};
_Static_assert(offsetof(struct numbers_options, common) == 0, "common options come first");

#define FIELD(name) .offset = offsetof(struct numbers_options, name)

static const struct option options[] = {
    {.name = "rows",
     .kind = OPTION_COUNT,
     FIELD(rows),
     .argument = "N",
     .min = 200,
     .max = 10000000,
     .fallback = "10000",
     .help = "Rows of a pass, 200 to 10000000."},
    {.name = "seconds",
     .kind = OPTION_DURATION,
     FIELD(length_ns),
     .argument = "SECONDS",
     .min = 100 * NS_PER_MS,
     .max = 3600 * NS_PER_S,
     .bare_ns = NS_PER_S,
     .fallback = "3",
     .help = "How long each kind of work is repeated, in seconds; or with a suffix: 500ms. There "
             "are nine, with each of two SQLite libraries."},
    COMMON_OPTION_DIR,
    COMMON_OPTIONS_RESULT,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* The library that scripts/build-engine-sqlite makes comes first; without it the system's is
 * measured alone, and the result says so. */
static int choose(struct session *session, struct numbers_library out[2], size_t *count,
                  struct error *error)
{
    const struct manifest *manifest = registry_find(&session->registry, "sqlite");
    char *why = NULL;
    *count = 0;
    if (manifest != NULL && manifest_ready(manifest, &why)) {
        out[(*count)++] =
            (struct numbers_library){.name = manifest->name, .library = manifest->library};
    } else if (result_warn(session->result, NULL,
                           "measured with the system's SQLite alone: %s (%s brings version %s)",
                           why != NULL ? why : "there is no engine sqlite",
                           manifest != NULL ? manifest->get : "scripts/build-engine-sqlite",
                           manifest != NULL ? manifest->version : "–") != 0) {
        free(why);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    free(why);
    out[(*count)++] = (struct numbers_library){.name = "system"};
    return 0;
}

static int work(struct session *session, const struct progress *progress, struct error *error)
{
    /* `given` is the first member of the command's options. */
    const struct numbers_options *given = (const struct numbers_options *)session->given;
    struct numbers_library libraries[2];
    struct numbers_order order = {
        .data_folder = prod_options_data_folder(session->given),
        .rows = given->rows,
        .length_ns = given->length_ns,
        .libraries = libraries,
    };
    int code = choose(session, libraries, &order.library_count, error);
    return code == 0 ? numbers_measure(&order, progress, session->result, error) : code;
}

static bool anything_measured(const struct result *result)
{
    return result->numbers.count > 0;
}

static int prepare(struct session *session, struct error *error, int *status)
{
    int code = session_check(session, error, status);
    code = code == 0 ? session_registry(session, error, status) : code;
    if (code == 0) {
        code = interrupt_install(error);
        *status = exit_status_of_error(code, 0);
    }
    return code;
}

static const struct session_steps steps = {
    .prepare = prepare,
    .work = work,
    .some = anything_measured,
    .nothing = "nothing was measured",
};

static int run(int argc, char *const *argv)
{
    struct numbers_options given = {.rows = 0};
    struct session session = {.given = &given.common};
    return session_command(&session, &command_numbers, &steps, &given, argc, argv);
}

const struct command command_numbers = {
    .name = "numbers",
    .usage = "numbers [OPTION]…",
    .summary = "measure libpitot beside the same work done with SQLite alone",
    .table = &table,
    .about =
        "What libpitot takes to open a store, to answer a Resync, to write a pass, and what a "
        "screen's read takes while passes are committed back to back; each beside the same work "
        "done with prepared statements and SQLite alone, in the same run and in turns. Two SQLite "
        "libraries are measured, each in a process of its own: the one that "
        "scripts/build-engine-sqlite makes, then the system's.\n"
        "The databases lie in a folder of their own below --dir, which is removed.",
    .examples = "pitot numbers\n"
                "pitot numbers --seconds 10 --json numbers.json\n"
                "pitot numbers --rows 100000 --dir /dev/shm",
    .run = run,
};
