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
    const uint8_t said[SAID_BYTES] = {kind, code, about, (uint8_t)detail, (uint8_t)(detail >> 8)};
    const uint8_t *newest = place_of(history, history->newest);
    bool again = kind == WIRE_HISTORY_KIND_REFUSED;
    for (uint8_t i = 0; i < SAID_BYTES; i++) {
        again = again && newest[i] == said[i];
    }
    if (again) {
        return;
    }
    uint16_t number = (uint16_t)(history->newest + 1u);
    volatile uint8_t *place = place_of(history, number); /* written in order, whatever the compiler thinks */
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < HISTORY_ENTRY_BYTES - CRC_BYTES; i++) {
        uint8_t byte;
        if (i < SAID_BYTES) {
            byte = said[i];
        } else if (i < HISTORY_TOLD_BYTES) {
            byte = (uint8_t)time_us;
            time_us >>= 8;
        } else {
            byte = (uint8_t)(i == HISTORY_TOLD_BYTES ? number : number >> 8);
        }
        crc = crc_add(crc, byte);
        place[i] = byte;
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
