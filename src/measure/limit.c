#include "measure/limit.h"

#include <stdio.h>

const char *limit_text(int resource, char text[LIMIT_TEXT_SIZE])
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        snprintf(text, LIMIT_TEXT_SIZE, "unknown");
    } else if (limit.rlim_cur == RLIM_INFINITY) {
        snprintf(text, LIMIT_TEXT_SIZE, "unlimited");
    } else {
        snprintf(text, LIMIT_TEXT_SIZE, "%llu", (unsigned long long)limit.rlim_cur);
    }
    return text;
}
