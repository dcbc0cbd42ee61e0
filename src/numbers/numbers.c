#include "numbers/numbers.h"

#include <dlfcn.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

int numbers_run(const struct numbers_plan *plan, const struct numbers_watch *watch,
                struct result_numbers *out, struct error *error)
{
    out->rows = plan->rows;
    out->length_ns = plan->length_ns;
    int status = numbers_open(plan, watch, out, error);
    status = status == 0 ? numbers_resync(plan, watch, out, error) : status;
    status = status == 0 ? numbers_passes(plan, watch, out, error) : status;
    return status == 0 ? numbers_reads(plan, watch, out, error) : status;
}

/* The file in which the functions that are called lie, whatever name it was found under. */
static char *library_path(void)
{
    Dl_info info;
    char real[PATH_MAX];
    const void *function = dlsym(RTLD_DEFAULT, "sqlite3_libversion");
    if (function == NULL || dladdr(function, &info) == 0 || info.dli_fname == NULL) {
        return NULL;
    }
    return strdup(realpath(info.dli_fname, real) != NULL ? real : info.dli_fname);
}

int numbers_identify(struct result_numbers *out, struct error *error)
{
    out->version = strdup(sqlite3_libversion());
    out->source_id = strdup(sqlite3_sourceid());
    out->library = library_path();
    int status = out->version != NULL && out->source_id != NULL ? 0 : ERROR_MEMORY;
    const char *option;
    for (int i = 0; status == 0 && (option = sqlite3_compileoption_get(i)) != NULL; i++) {
        char **item = result_list_add(&out->compile_options);
        status = item != NULL && (*item = strdup(option)) != NULL ? 0 : ERROR_MEMORY;
    }
    return status == 0 ? 0 : error_set(error, status, "out of memory");
}
