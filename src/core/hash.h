/*
 * 64-bit FNV-1a (Fowler, Noll, Vo): h = (h xor byte) * 1099511628211, starting at
 * 14695981039346656037; and a mixer of 32 bits. For identities and for noticing damage, not against
 * an adversary.
 */
#ifndef PITOT_CORE_HASH_H
#define PITOT_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

/* Goes on from `hash`; parts are told apart only if their lengths are hashed too. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ byte[i]) * HASH_PRIME;
    }
    return hash;
}

/* MurmurHash3's 32-bit finalizer: a bijection in which each input bit changes each output bit with
 * probability near one half. */
static inline uint32_t hash_mix32(uint32_t h)
{
    h ^= h >> 16;
    h *= UINT32_C(0x85EBCA6B);
    h ^= h >> 13;
    h *= UINT32_C(0xC2B2AE35);
    h ^= h >> 16;
    return h;
}

#endif
