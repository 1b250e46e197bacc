/* What a cannon keeps over every reset but a loss of supply, for the board to put where start-up code does not reach.
 *
 * There are two copies, written one after the other, so a reset in the middle of that leaves one of them whole. */
#ifndef KEPT_H
#define KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cannon.h"
#include "crc.h"
#include "out_of_line.h"

struct kept {
    struct cannon_retained retained;
    uint16_t crc;
};

/* Nothing is left of the CRC of a copy with its own CRC behind it. */
#define KEPT_BYTES ((uint8_t)offsetof(struct kept, crc))
#define KEPT_BYTES_WITH_CRC ((uint8_t)(KEPT_BYTES + sizeof(uint16_t)))

static inline uint16_t kept_crc(const struct kept *copy, uint8_t length)
{
    const uint8_t *bytes = (const uint8_t *)copy;
    uint16_t crc = CRC_START;
    while (length-- != 0) {
        crc = crc_add(crc, *bytes++);
    }
    return crc;
}

/* Main loop, after every step and once before the first. Byte by byte and volatile, so that no compiler begins the second
 * copy before the first is whole, and that what pads the structure, if anything does, is the same as in the CRC. */
static OUT_OF_LINE void kept_write(struct kept copies[2], const struct cannon *cannon)
{
    struct kept whole;
    volatile uint8_t *to = (volatile uint8_t *)copies;
    memset(&whole, 0, sizeof whole);
    cannon_retain(cannon, &whole.retained);
    whole.crc = kept_crc(&whole, KEPT_BYTES);
    for (uint8_t i = 0; i < 2u; i++) {
        const uint8_t *from = (const uint8_t *)&whole;
        for (uint8_t left = sizeof whole; left != 0; left--) {
            *to++ = *from++;
        }
    }
}

/* For cannon_start, after a reset. Where the supply was not lost and yet neither copy is whole, what is safe: the key
 * must be turned off and on. */
static inline const struct cannon_retained *kept_read(struct kept copies[2], bool supply_lost)
{
    struct kept *copy = copies;
    if (supply_lost) {
        return NULL;
    }
    if (kept_crc(copy, KEPT_BYTES_WITH_CRC) != 0) {
        copy++;
        if (kept_crc(copy, KEPT_BYTES_WITH_CRC) != 0) {
            copy->retained.draw_ticks = 0;
            copy->retained.levels = 0;
            copy->retained.key_cycle_needed = true;
        }
    }
    return &copy->retained;
}

#endif
