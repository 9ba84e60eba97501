// Values of every type that depend on every bit of a seed, and an array that knows its right
// contents, byte by byte, so that bytes that were not to be written are looked at, too.
#ifndef FARREACH_TESTS_VALUES_H
#define FARREACH_TESTS_VALUES_H

#include "check.h"

#include <float.h>

// Spreads every bit of the seed over the whole word.
static inline uint64_t mix(uint64_t seed)
{
    seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    seed ^= seed >> 29;
    seed *= UINT64_C(0xbf58476d1ce4e5b9);
    return seed ^ (seed >> 32);
}

// The bytes of an element that carry its value: a long double has padding.
#define VALUE_BYTES(TYPE)                                                                          \
    (sizeof(TYPE) == sizeof(long double) && LDBL_MANT_DIG == 64 ? 10 : sizeof(TYPE))

// Defines make_NAME, which writes the value of a seed.
#define MAKE_VALUE(NAME, TYPE)                                                                     \
    static void make_##NAME(void *element, uint64_t seed)                                          \
    {                                                                                              \
        int is_float = (TYPE)0.5 != (TYPE)0;                                                       \
        TYPE value = is_float ? (TYPE)((TYPE)mix(seed) / (TYPE)3) : (TYPE)mix(seed);               \
        memcpy(element, &value, sizeof value);                                                     \
    }

// Makes an element of `size` bytes without a type, for the routines of a fixed size; at most 16
// bytes.
static inline void make_bytes(void *element, uint64_t seed, size_t size)
{
    uint64_t words[2] = {mix(seed), mix(~seed)};
    memcpy(element, words, size);
}

// A type of elements: its name, its sizes and its values.
struct kind {
    const char *name;
    size_t size;        // bytes of an element
    size_t value_bytes; // of those, the bytes that carry its value
    void (*make)(void *element, uint64_t seed);
};

#define KIND(NAME, TYPE) {#NAME, sizeof(TYPE), VALUE_BYTES(TYPE), make_##NAME}

enum { UNTOUCHED = 0x5a, PICTURE_BYTES = 16384 };

// The bytes that an object should hold: UNTOUCHED wherever nothing was written.
struct picture {
    const struct kind *kind;
    size_t bytes;
    unsigned char want[PICTURE_BYTES];
    unsigned char any[PICTURE_BYTES]; // nonzero for padding, which may be anything
};

// Begins a picture of `bytes` bytes and puts the object into the state that it shows.
static inline void picture_begin(struct picture *p, const struct kind *kind, void *object,
                                 size_t bytes)
{
    CHECK(bytes <= PICTURE_BYTES, "a picture of %zu bytes is too large", bytes);
    p->kind = kind;
    p->bytes = bytes;
    memset(p->want, UNTOUCHED, bytes);
    memset(p->any, 0, bytes);
    memset(object, UNTOUCHED, bytes);
}

// Paints the value of a seed as element `index`.
static inline void picture_paint(struct picture *p, size_t index, uint64_t seed)
{
    size_t at = index * p->kind->size;

    CHECK(at + p->kind->size <= p->bytes, "element %zu lies outside of the picture", index);
    p->kind->make(p->want + at, seed);
    memset(p->any + at + p->kind->value_bytes, 1, p->kind->size - p->kind->value_bytes);
}

// Compares an object with its picture; the text names the routine and its arguments.
static inline void picture_compare(const struct picture *p, const void *object, const char *text)
{
    const unsigned char *got = (const unsigned char *)object;

    for (size_t i = 0; i < p->bytes; i++)
        CHECK(p->any[i] || got[i] == p->want[i],
              "%s, %s: element %zu, byte %zu: expected 0x%02x, got 0x%02x", p->kind->name, text,
              i / p->kind->size, i % p->kind->size, p->want[i], got[i]);
}

#endif
