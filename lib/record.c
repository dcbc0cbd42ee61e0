#include "lib/record.h"

#define BYTE(serial, size)                                                                         \
    {serial, size}, {serial, size}, {serial, size}, {serial, size}, {serial, size},                \
        {serial, size}, {serial, size},                                                            \
    {                                                                                              \
        serial, size                                                                               \
    }

/* One bit goes to the sign: 7 bits need a byte, 8 need two. Entry 0 is for one bit. */
const struct record_form record_forms[64] = {
    {1, 1},     {1, 1},     {1, 1},     {1, 1},     {1, 1},     {1, 1},     {1, 1}, BYTE(2, 2),
    BYTE(3, 3), BYTE(4, 4), BYTE(5, 6), BYTE(5, 6), BYTE(6, 8), BYTE(6, 8), {6, 8}};

const uint8_t record_sizes[SERIAL_BLOB] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

size_t varint_write_long(uint8_t *out, uint64_t value)
{
    size_t size = varint_size(value);
    size_t i = size;
    if (size == VARINT_MAX) {
        out[--i] = (uint8_t)value;
        value >>= 8;
    } else {
        out[--i] = (uint8_t)(value & 0x7F);
        value >>= 7;
    }
    while (i > 0) {
        out[--i] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    return size;
}

size_t varint_read_long(const uint8_t *in, uint64_t *value)
{
    uint64_t result = 0;
    for (size_t i = 0; i < VARINT_MAX - 1; i++) {
        result = result << 7 | (in[i] & 0x7F);
        if (in[i] < 128) {
            *value = result;
            return i + 1;
        }
    }
    *value = result << 8 | in[VARINT_MAX - 1];
    return VARINT_MAX;
}

void record_next(struct record_reader *reader, struct pitot_value *value)
{
    uint64_t serial;
    reader->type += varint_read(reader->type, &serial);
    if (serial >= SERIAL_BLOB) {
        value->type = serial % 2 == 0 ? PITOT_BLOB : PITOT_TEXT;
        value->size = (uint32_t)((serial - SERIAL_BLOB) / 2);
        value->as.bytes = reader->body;
        reader->body += value->size;
        return;
    }
    uint32_t size = record_sizes[serial];
    uint64_t word = 0;
    reader->body += size;
    if (size > 0) {
        /* A whole word is read: the record's header, and what is before it, precede the body. */
        memcpy(&word, reader->body - sizeof word, sizeof word);
        unsigned shift = 64 - 8 * size;
        word = (uint64_t)((int64_t)(__builtin_bswap64(word) << shift) >> shift);
    }
    value->size = 0;
    if (serial == SERIAL_NULL) {
        value->type = PITOT_NULL;
    } else if (serial == SERIAL_REAL) {
        value->type = PITOT_REAL;
        memcpy(&value->as.real, &word, sizeof word);
    } else {
        value->type = PITOT_INTEGER;
        value->as.integer = serial >= SERIAL_ZERO ? (int64_t)(serial - SERIAL_ZERO) : (int64_t)word;
    }
}
