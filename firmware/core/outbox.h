/* The sending half of the line: the last answer, the events that nobody has acknowledged yet, and the ring of bytes
 * that the transmit interrupt empties. Nothing waits: what finds no room is sent on a later step. */
#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define OUTBOX_RING_BYTES 64u /* a power of two */
#define OUTBOX_EVENTS 8u

struct outbox_event {
    uint8_t type;
    uint8_t sequence;
    uint8_t length;
    bool sent; /* since the last time everything was due again */
    uint8_t payload[WIRE_LONGEST_EVENT_PAYLOAD];
};

#define OUTBOX_NOWHERE OUTBOX_EVENTS /* the place of an event that is not kept */

struct outbox {
    uint8_t ring[OUTBOX_RING_BYTES];
    volatile uint8_t head; /* the main loop's */
    volatile uint8_t tail; /* the interrupt's */

    uint8_t answer_type;
    uint8_t answer_sequence;
    uint8_t answer_length;
    bool answer_due;
    uint8_t answer[WIRE_LONGEST_ANSWER_PAYLOAD];

    bool aside_due; /* a refusal of a frame that does not count as a command of this session */
    uint8_t aside_sequence;
    uint8_t aside[WIRE_REFUSAL_LENGTH];

    uint8_t *payload; /* of the answer or event being made, and its length so far */
    uint8_t *length;

    struct outbox_event events[OUTBOX_EVENTS + 1u]; /* oldest first, and one that is never sent */
    uint8_t event_count;
    uint8_t event_sequence; /* the number counted last, be it of an event that is kept or of those that found no room */

    uint16_t crc_start; /* of a frame of this session */
};

void outbox_start(struct outbox *outbox);

/* Begin an answer (or refusal); its payload is then appended with outbox_u8, _u16 and _u32. It stays in the outbox so
 * that it can be sent again. */
void outbox_answer(struct outbox *outbox, uint8_t type, uint8_t sequence);

/* Begin an event; its payload is appended likewise. Without room it is not kept; those that find none one after another
 * are counted as one, so that the gap tells the controller and yet no number comes round while events wait. One that nobody
 * `wanted` is not counted either. */
void outbox_event(struct outbox *outbox, uint8_t type, bool wanted);

/* Append to what was begun last. */
void outbox_u8(struct outbox *outbox, uint8_t value);
void outbox_u16(struct outbox *outbox, uint16_t value);
void outbox_u32(struct outbox *outbox, uint32_t value);

/* Send the last answer again. */
void outbox_repeat_answer(struct outbox *outbox);

/* Refuse a frame without touching the last answer. */
void outbox_refuse_aside(struct outbox *outbox, uint8_t sequence, uint8_t reason, uint16_t detail);

/* Forget events up to and with this one. A number that was never sent is ignored. */
void outbox_acknowledge(struct outbox *outbox, uint8_t sequence);

/* Forget what was to be said in the session before, and begin to count events anew. */
void outbox_begin_session(struct outbox *outbox, uint16_t crc_start);

/* Put what is due into the ring, as far as there is room. True when an event was among it. */
bool outbox_step(struct outbox *outbox);

/* Every event that nobody has acknowledged is due again. */
void outbox_resend(struct outbox *outbox);

/* Interrupt: is there a byte to send, and which. */
static inline bool outbox_empty(const struct outbox *outbox) { return outbox->head == outbox->tail; }
static inline uint8_t outbox_take(struct outbox *outbox)
{
    uint8_t tail = outbox->tail;
    uint8_t byte = outbox->ring[tail];
    outbox->tail = (uint8_t)((tail + 1u) % OUTBOX_RING_BYTES);
    return byte;
}

#endif
