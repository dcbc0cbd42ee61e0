/*
 * SQLite's record format (https://www.sqlite.org/fileformat2.html, 2.1): a header of
 * serial types and the values behind it. And the cells of b-tree pages, which hold a
 * record behind its size and, in tables with rowids, the rowid.
 *
 * Everything here reads memory that this library wrote itself: nothing is checked.
 */
#ifndef PITOT_LIB_RECORD_H
#define PITOT_LIB_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/error.h"

enum { VARINT_MAX = 9 };

/* A byte for each 7 bits, and 8 bits in the ninth. */
static inline size_t varint_size(uint64_t value)
{
    if (value < UINT64_C(1) << 21) {
        return value < 128 ? 1 : value < 1 << 14 ? 2 : 3;
    }
    size_t size = (size_t)(70 - __builtin_clzll(value)) / 7;
    return size > VARINT_MAX ? VARINT_MAX : size;
}

/* Of 2^21 and more. */
size_t varint_write_long(uint8_t *out, uint64_t value);

/* Writes varint_size(value) bytes and returns that number. */
static inline size_t varint_write(uint8_t *out, uint64_t value)
{
    if (value < 128) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value < 1 << 14) {
        out[0] = (uint8_t)(value >> 7 | 0x80);
        out[1] = (uint8_t)(value & 0x7F);
        return 2;
    }
    if (value < 1 << 21) {
        out[0] = (uint8_t)(value >> 14 | 0x80);
        out[1] = (uint8_t)(value >> 7 | 0x80);
        out[2] = (uint8_t)(value & 0x7F);
        return 3;
    }
    return varint_write_long(out, value);
}

/* Of four bytes and more. */
size_t varint_read_long(const uint8_t *in, uint64_t *value);

/* Returns the bytes read. */
static inline size_t varint_read(const uint8_t *in, uint64_t *value)
{
    if (in[0] < 128) {
        *value = in[0];
        return 1;
    }
    if (in[1] < 128) {
        *value = (uint64_t)(in[0] & 0x7F) << 7 | in[1];
        return 2;
    }
    if (in[2] < 128) {
        *value = (uint64_t)(in[0] & 0x7F) << 14 | (uint64_t)(in[1] & 0x7F) << 7 | in[2];
        return 3;
    }
    return varint_read_long(in, value);
}

static inline void put_u16(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
}

static inline void put_u32(uint8_t *out, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(out, &value, sizeof value);
}

static inline uint32_t get_u16(const uint8_t *in)
{
    return (uint32_t)in[0] << 8 | in[1];
}

static inline uint32_t get_u32(const uint8_t *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return __builtin_bswap32(value);
}

/* Serial types: 0 NULL, 1 to 6 integers of so many bytes, 7 a double, 8 and 9 the
 * integers 0 and 1, from 12 on blobs (even) and texts (odd). */
enum {
    SERIAL_NULL = 0,
    SERIAL_INT64 = 6,
    SERIAL_REAL = 7,
    SERIAL_ZERO = 8,
    SERIAL_ONE = 9,
    SERIAL_BLOB = 12,
    SERIAL_TEXT = 13
};

/* Bytes in the body by serial type, for those below 12. */
extern const uint8_t record_sizes[SERIAL_BLOB];

/* One value on its way into a record. Texts and blobs have less than 2^31 - 6 bytes. */
struct record_slot {
    uint32_t serial;
    uint32_t size; /* bytes in the body */
    union {
        uint64_t word; /* the last `size` of its bytes, high byte first */
        const void *bytes;
    } as;
};

/* Serial type and bytes of an integer by the number of its significant bits without the sign. */
struct record_form {
    uint8_t serial;
    uint8_t size;
};
extern const struct record_form record_forms[64];

/* Of anything but 0 and 1. */
static inline const struct record_form *record_form(uint64_t word)
{
    uint64_t magnitude = word ^ (uint64_t)((int64_t)word >> 63);
    return &record_forms[63 ^ __builtin_clzll(magnitude | 1)];
}

static inline void record_slot_integer(struct record_slot *slot, int64_t value)
{
    uint64_t word = (uint64_t)value;
    slot->as.word = word;
    if (word < 2) {
        slot->serial = SERIAL_ZERO + (uint32_t)word;
        slot->size = 0;
        return;
    }
    const struct record_form *form = record_form(word);
    slot->serial = form->serial;
    slot->size = form->size;
}

static inline void record_slot_real(struct record_slot *slot, double value)
{
    slot->serial = SERIAL_REAL;
    slot->size = 8;
    memcpy(&slot->as.word, &value, sizeof value);
}

static inline void record_slot_bytes(struct record_slot *slot, unsigned first_serial,
                                     const void *bytes, uint32_t size)
{
    slot->serial = first_serial + 2 * size;
    slot->size = size;
    slot->as.bytes = bytes;
}

/* Bytes that a record's header and body take. */
static inline size_t record_header_size(const struct record_slot *slots, size_t count)
{
    size_t types = 0;
    for (size_t i = 0; i < count; i++) {
        types += varint_size(slots[i].serial);
    }
    size_t size = types + varint_size(types + 1);
    return types + varint_size(size);
}

static inline size_t record_body_size(const struct record_slot *slots, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += slots[i].size;
    }
    return size;
}

/*
 * Writes the record. HEADER and BODY are its sizes. Up to RECORD_SLACK bytes before
 * OUT are overwritten: a whole word is stored where an integer needs less.
 */
enum { RECORD_SLACK = 8 };
static inline void record_copy(uint8_t *out, const uint8_t *in, size_t size)
{
    /* Short ones by two copies that may overlap: the call would cost as much as the copy. */
    if (size >= 16 && size <= 32) {
        uint8_t first[16];
        uint8_t last[16];
        memcpy(first, in, 16);
        memcpy(last, in + size - 16, 16);
        memcpy(out, first, 16);
        memcpy(out + size - 16, last, 16);
    } else if (size >= 8 && size < 16) {
        uint64_t first;
        uint64_t last;
        memcpy(&first, in, 8);
        memcpy(&last, in + size - 8, 8);
        memcpy(out, &first, 8);
        memcpy(out + size - 8, &last, 8);
    } else if (size > 0) {
        memcpy(out, in, size);
    }
}

static inline void record_write(uint8_t *out, const struct record_slot *slots, size_t count,
                                size_t header, size_t body)
{
    uint8_t *end = out + header + body;
    for (size_t i = count; i-- > 0;) {
        uint32_t size = slots[i].size;
        end -= size;
        if (slots[i].serial >= SERIAL_BLOB) {
            record_copy(end, slots[i].as.bytes, size);
        } else if (size > 0) {
            uint64_t word = __builtin_bswap64(slots[i].as.word);
            memcpy(end + size - 8, &word, sizeof word);
        }
    }
    uint8_t *at = out + varint_write(out, header);
    for (size_t i = 0; i < count; i++) {
        at += varint_write(at, slots[i].serial);
    }
}

/* Walks over the values of a record. */
struct record_reader {
    const uint8_t *type;
    const uint8_t *types_end;
    const uint8_t *body;
};

static inline void record_open(struct record_reader *reader, const uint8_t *record)
{
    uint64_t header;
    reader->type = record + varint_read(record, &header);
    reader->types_end = record + header;
    reader->body = reader->types_end;
}

/* The next value; text and blobs point into the record. */
void record_next(struct record_reader *reader, struct pitot_value *value);

#endif
