#include "outbox.h"

#include <string.h>

#include "check.h"
#include "crc.h"
#include "out_of_line.h"

/* A frame's bytes on the line if every one of them had to be escaped, and its flag. */
#define WORST_BYTES(length) (2u * ((length) + 4u) + 1u)

CHECK_COMPILE_TIME(answer_fits_ring, WORST_BYTES(WIRE_LONGEST_ANSWER_PAYLOAD) < OUTBOX_RING_BYTES);

void outbox_start(struct outbox *outbox)
{
    memset(outbox, 0, sizeof *outbox);
    outbox->crc_start = CRC_START;
}

static uint8_t room(const struct outbox *outbox)
{
    return (uint8_t)((uint8_t)(outbox->tail - outbox->head - 1u) % OUTBOX_RING_BYTES);
}

static OUT_OF_LINE void put(struct outbox *outbox, uint8_t byte)
{
    uint8_t head = outbox->head;
    outbox->ring[head] = byte;
    outbox->head = (uint8_t)((head + 1u) % OUTBOX_RING_BYTES);
}

static void put_stuffed(struct outbox *outbox, uint8_t byte)
{
    if (byte == WIRE_FLAG || byte == WIRE_ESCAPE || byte == WIRE_STOP) {
        put(outbox, WIRE_ESCAPE);
        byte ^= WIRE_ESCAPE_XOR;
    }
    put(outbox, byte);
}

/* False when a frame of that length might not fit if every byte had to be escaped. */
static bool send(struct outbox *outbox, uint8_t sequence, uint8_t type, const uint8_t *payload, uint8_t length)
{
    if (room(outbox) < WORST_BYTES(length)) {
        return false;
    }
    uint16_t start = type == WIRE_COMMAND_IDENTIFY + WIRE_ANSWER_OFFSET ? CRC_START : outbox->crc_start;
    uint16_t crc = crc_add(crc_add(start, sequence), type);
    put_stuffed(outbox, sequence);
    put_stuffed(outbox, type);
    for (uint8_t i = 0; i < length; i++) {
        crc = crc_add(crc, payload[i]);
        put_stuffed(outbox, payload[i]);
    }
    crc = (uint16_t)~crc;
    put_stuffed(outbox, (uint8_t)crc);
    put_stuffed(outbox, (uint8_t)(crc >> 8));
    put(outbox, WIRE_FLAG);
    return true;
}

OUT_OF_LINE void outbox_answer(struct outbox *outbox, uint8_t type, uint8_t sequence)
{
    outbox->answer_type = type;
    outbox->answer_sequence = sequence;
    outbox->answer_length = 0;
    outbox->answer_due = true;
    outbox->payload = outbox->answer;
    outbox->length = &outbox->answer_length;
}

OUT_OF_LINE void outbox_event(struct outbox *outbox, uint8_t type, bool wanted)
{
    uint8_t at = OUTBOX_NOWHERE;
    if (wanted) {
        bool kept = outbox->event_count != OUTBOX_EVENTS;
        if (kept || outbox->event_sequence == outbox->events[OUTBOX_EVENTS - 1u].sequence) {
            outbox->event_sequence++;
        }
        if (kept) {
            at = outbox->event_count++;
        }
    }
    struct outbox_event *event = &outbox->events[at];
    event->type = type;
    event->sequence = outbox->event_sequence;
    event->length = 0;
    event->sent = false;
    outbox->payload = event->payload;
    outbox->length = &event->length;
}

OUT_OF_LINE void outbox_u8(struct outbox *outbox, uint8_t value)
{
    *outbox->payload++ = value;
    ++*outbox->length;
}

void outbox_u16(struct outbox *outbox, uint16_t value)
{
    outbox_u8(outbox, (uint8_t)value);
    outbox_u8(outbox, (uint8_t)(value >> 8));
}

void outbox_u32(struct outbox *outbox, uint32_t value)
{
    outbox_u16(outbox, (uint16_t)value);
    outbox_u16(outbox, (uint16_t)(value >> 16));
}

void outbox_repeat_answer(struct outbox *outbox) { outbox->answer_due = true; }

void outbox_refuse_aside(struct outbox *outbox, uint8_t sequence, uint8_t reason, uint16_t detail)
{
    outbox->aside_due = true;
    outbox->aside_sequence = sequence;
    outbox->aside[0] = reason;
    outbox->aside[1] = (uint8_t)detail;
    outbox->aside[2] = (uint8_t)(detail >> 8);
}

void outbox_acknowledge(struct outbox *outbox, uint8_t sequence)
{
    if ((int8_t)(outbox->event_sequence - sequence) < 0) {
        return;
    }
    uint8_t seen = 0;
    while (seen < outbox->event_count && (int8_t)(sequence - outbox->events[seen].sequence) >= 0) {
        seen++;
    }
    outbox->event_count = (uint8_t)(outbox->event_count - seen);
    memmove(&outbox->events[0], &outbox->events[seen], outbox->event_count * sizeof outbox->events[0]);
}

void outbox_begin_session(struct outbox *outbox, uint16_t crc_start)
{
    outbox->crc_start = crc_start;
    outbox->aside_due = false;
    outbox->event_count = 0;
    outbox->event_sequence = 0;
}

void outbox_resend(struct outbox *outbox)
{
    for (uint8_t i = 0; i < outbox->event_count; i++) {
        outbox->events[i].sent = false;
    }
}

bool outbox_step(struct outbox *outbox)
{
    bool event_sent = false;
    if (outbox->answer_due && send(outbox, outbox->answer_sequence, outbox->answer_type, outbox->answer,
                                   outbox->answer_length)) {
        outbox->answer_due = false;
    }
    if (outbox->aside_due &&
        send(outbox, outbox->aside_sequence, WIRE_REFUSAL_TYPE, outbox->aside, WIRE_REFUSAL_LENGTH)) {
        outbox->aside_due = false;
    }
    for (uint8_t i = 0; i < outbox->event_count && !outbox->answer_due; i++) {
        struct outbox_event *event = &outbox->events[i];
        if (!event->sent) {
            if (!send(outbox, event->sequence, event->type, event->payload, event->length)) {
                break; /* in order, or not yet */
            }
            event->sent = true;
            event_sent = true;
        }
    }
    return event_sent;
}
