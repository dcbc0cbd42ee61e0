#include "worker/answer.h"

#include <stdlib.h>

void answer_release(struct answer *answer)
{
    free(answer->numbers[DIGEST_VALUE]);
    free(answer->numbers[DIGEST_STRICT]);
    *answer = (struct answer){.compare = answer->compare};
}

void answer_clear(struct answer *answer)
{
    answer->count = 0;
    answer->whole = 0;
    answer->rows = 0;
}

static bool grow(struct answer *answer)
{
    size_t capacity = answer->capacity < 64 ? 64 : answer->capacity * 2;
    for (int kind = 0; kind < 2; kind++) {
        uint64_t *numbers = realloc(answer->numbers[kind], capacity * sizeof(*numbers));
        if (numbers == NULL) {
            answer->no_memory = true;
            return false;
        }
        answer->numbers[kind] = numbers;
    }
    answer->capacity = capacity;
    return true;
}

static bool add(struct answer *answer, uint64_t value, uint64_t strict)
{
    if (answer->count == answer->capacity && !grow(answer)) {
        return false;
    }
    answer->numbers[DIGEST_VALUE][answer->count] = value;
    answer->numbers[DIGEST_STRICT][answer->count++] = strict;
    return true;
}

/* A statement's numbers begin with that of the rows it changed, which is known last. */
static bool begin_statement(struct answer *answer)
{
    return answer->count > answer->whole || add(answer, 0, 0);
}

static void begin(void *context)
{
    answer_clear(context);
}

static int take_row(void *context, const struct value *columns, uint32_t count)
{
    struct answer *answer = context;
    answer->rows++;
    if (answer->compare == JOB_COMPARE_COUNT) {
        return 0;
    }
    return begin_statement(answer) && add(answer, digest_row(DIGEST_VALUE, columns, count),
                                          digest_row(DIGEST_STRICT, columns, count))
               ? 0
               : ERROR_MEMORY;
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void ran(void *context, const struct script_call *call, uint64_t rows_changed)
{
    struct answer *answer = context;
    (void)call;
    if (!begin_statement(answer)) {
        return;
    }
    size_t rows = answer->count - answer->whole - 1;
    for (int kind = 0; kind < 2; kind++) {
        uint64_t *numbers = answer->numbers[kind] + answer->whole;
        numbers[0] = rows_changed;
        if (answer->compare == JOB_COMPARE_SET && rows > 1) {
            qsort(numbers + 1, rows, sizeof(*numbers), compare_numbers);
        }
    }
    if (answer->compare == JOB_COMPARE_COUNT) {
        add(answer, answer->rows, answer->rows);
    }
    answer->whole = answer->count;
    answer->rows = 0;
}

struct operation_observer answer_observer(struct answer *answer)
{
    return (struct operation_observer){
        .begin = begin, .ran = ran, .sink = {.row = take_row, .context = answer}};
}

uint64_t answer_digest(const struct answer *answer, enum digest_kind kind, char outcome)
{
    struct digest digest;
    digest_init(&digest);
    digest_bytes(&digest, &outcome, 1);
    for (size_t i = 0; i < answer->whole; i++) {
        digest_u64(&digest, answer->numbers[kind][i]);
    }
    return digest_end(&digest);
}
