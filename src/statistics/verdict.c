#include "statistics/verdict.h"

#include <math.h>

enum verdict verdict_of(const struct interval *interval, const struct verdict_terms *terms)
{
    if (terms->closed_loop) {
        return VERDICT_CLOSED_LOOP;
    }
    if (interval->n < VERDICT_ROUNDS_MIN) {
        return VERDICT_FEW_ROUNDS;
    }
    if (!interval_excludes_one(interval) || !(fabs(interval->mean) > terms->floor)) {
        return VERDICT_NONE;
    }
    return (interval->mean > 0) == terms->higher_is_better ? VERDICT_FASTER : VERDICT_SLOWER;
}

bool verdict_claims(enum verdict verdict)
{
    return verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER;
}

const char *verdict_text(enum verdict verdict)
{
    static const char *const texts[] = {
#define X(name, text) [VERDICT_##name] = (text),
        VERDICTS(X)
#undef X
    };
    return texts[verdict];
}
