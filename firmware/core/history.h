/* What happened last, kept where a reset does not reach: resets, refusals, faults, and changes of state that no command
 * asked for. Entries are numbered on and on and take each other's place in turn. Each has a CRC of its own, so one that
 * a reset cut off in the middle is known for what it is and spoils no other. Only a new entry costs time. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdint.h>

#include "wire.h"

/* KIND CODE ABOUT DETAIL(2) TIME(4) NUMBER(2) CRC(2). The bytes before the number are those that the line carries. KIND
 * is written first and is not zero, the CRC last. */
#define HISTORY_TOLD_BYTES 9u
#define HISTORY_ENTRY_BYTES 13u

struct history {
    uint8_t entries[WIRE_HISTORY_ENTRIES][HISTORY_ENTRY_BYTES]; /* each at its number modulo the ring */
    uint16_t newest; /* number of the newest */
};

/* After a reset, before anything is noted. What is there counts as far as its CRCs say so, whatever the reset was:
 * after a loss of supply they do not. An entry that was being written leaves a gap in the numbers. */
void history_start(struct history *history);

/* A new entry. A refusal that says what the newest entry says already is not noted again. */
void history_note(struct history *history, uint8_t kind, uint8_t code, uint8_t about, uint16_t detail,
                  uint32_t time_us);

/* The HISTORY_TOLD_BYTES of the entry with that number; NULL when there is none, or it is not whole. */
const uint8_t *history_find(struct history *history, uint16_t number);

#endif
