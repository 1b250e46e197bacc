#include "history.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "crc.h"
#include "out_of_line.h"

#define SAID_BYTES 5u /* kind, code, about, detail */
#define CRC_BYTES 2u

CHECK_COMPILE_TIME(number_before_crc, HISTORY_ENTRY_BYTES == HISTORY_TOLD_BYTES + 2u + CRC_BYTES);

static OUT_OF_LINE bool whole(const uint8_t *entry)
{
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < HISTORY_ENTRY_BYTES; i++) {
        crc = crc_add(crc, entry[i]);
    }
    return crc == CRC_RESIDUE;
}

static uint16_t number_of(const uint8_t *entry)
{
    return (uint16_t)(entry[HISTORY_TOLD_BYTES] | ((uint16_t)entry[HISTORY_TOLD_BYTES + 1u] << 8));
}

static OUT_OF_LINE uint8_t *place_of(struct history *history, uint16_t number)
{
    return history->entries[(uint8_t)number % WIRE_HISTORY_ENTRIES];
}

void history_start(struct history *history)
{
    bool any = false;
    uint16_t newest = 0;
    for (uint8_t i = 0; i < WIRE_HISTORY_ENTRIES; i++) {
        const uint8_t *entry = place_of(history, i);
        uint16_t number = number_of(entry);
        bool newer = !any || (int16_t)(number - newest) > 0;
        if (newer && (uint8_t)number % WIRE_HISTORY_ENTRIES == i && whole(entry)) {
            newest = number;
            any = true;
        }
    }
    if (!any) {
        memset(history, 0, sizeof *history); /* no entry was begun */
    }
    const uint8_t *next = place_of(history, (uint16_t)(newest + 1u));
    history->newest = next[0] == 0 || whole(next) ? newest : (uint16_t)(newest + 1u);
}

OUT_OF_LINE void history_note(struct history *history, uint8_t kind, uint8_t code, uint8_t about, uint16_t detail,
                              uint32_t time_us)
{
    const uint8_t *newest = place_of(history, history->newest);
    uint16_t number = (uint16_t)(history->newest + 1u);
    const uint8_t entry[HISTORY_ENTRY_BYTES - CRC_BYTES] = {
        kind,
        code,
        about,
        (uint8_t)detail,
        (uint8_t)(detail >> 8),
        (uint8_t)time_us,
        (uint8_t)(time_us >> 8),
        (uint8_t)(time_us >> 16),
        (uint8_t)(time_us >> 24),
        (uint8_t)number,
        (uint8_t)(number >> 8),
    };
    if (kind == WIRE_HISTORY_KIND_REFUSED && memcmp(newest, entry, SAID_BYTES) == 0) {
        return;
    }
    volatile uint8_t *place = place_of(history, number); /* written in order, whatever the compiler thinks */
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < sizeof entry; i++) {
        crc = crc_add(crc, entry[i]);
        place[i] = entry[i];
    }
    place[HISTORY_ENTRY_BYTES - 2u] = (uint8_t)~crc;
    place[HISTORY_ENTRY_BYTES - 1u] = (uint8_t)(~crc >> 8);
    history->newest = number;
}

const uint8_t *history_find(struct history *history, uint16_t number)
{
    const uint8_t *entry = place_of(history, number);
    return number_of(entry) == number && whole(entry) ? entry : NULL;
}
