/* The receiving half of the line, as it runs in the receive interrupt.
 *
 * Every byte is unstuffed, added to the running CRC and compared with the fire command that would be obeyed, as it
 * arrives. So when the flag of a fire command comes in, all that is left is one compare, and the interrupt itself can
 * pull the trigger; see DESIGN.md, "From the last byte to the trigger". Whole frames wait in a small queue for the main
 * loop. One interrupt writes, the main loop reads; the functions say which side may call them. */
#ifndef RECEIVER_H
#define RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "crc.h"
#include "wire.h"

/* Sequence, type, payload and CRC of the longest command. Slots are 8 bytes so that an index is a shift. */
#define RECEIVER_SLOT_BYTES 8u
#define RECEIVER_SLOTS 8u
#define RECEIVER_OVERHEAD 4u

CHECK_COMPILE_TIME(command_fits_slot, WIRE_LONGEST_COMMAND_PAYLOAD + RECEIVER_OVERHEAD <= RECEIVER_SLOT_BYTES);
CHECK_COMPILE_TIME(fire_fills_slot, WIRE_COMMAND_FIRE_LENGTH + RECEIVER_OVERHEAD == RECEIVER_SLOT_BYTES);

struct receiver {
    uint8_t bytes[RECEIVER_SLOTS * RECEIVER_SLOT_BYTES];
    uint8_t lengths[RECEIVER_SLOTS]; /* bytes of the frame with its CRC; more than a slot holds is a frame too long */
    volatile bool overtaken[RECEIVER_SLOTS]; /* a stop byte has come since the frame's first byte */
    volatile uint8_t head;           /* the slot being filled; the interrupt's */
    volatile uint8_t tail;           /* the next slot to read; the main loop's */
    volatile bool stopped;     /* a stop byte came; the main loop clears it */
    volatile uint8_t lost;     /* how bytes or frames were lost, WIRE_LOSS_.._MASK; the main loop clears it */
    uint16_t crc_start;        /* of a frame of this session */
    uint16_t crc;
    uint8_t length;
    bool escaped;
    bool matches; /* every byte so far is that of the fire command */
    uint8_t sequence; /* of the frame that is coming in */
    bool primed;  /* the flag would complete the fire command, CRC and all */

    /* The fuse: laid and lit by the main loop, burnt by the interrupt. */
    volatile bool fuse_live;
    volatile bool fuse_fired; /* the interrupt pulled the trigger; the main loop has not taken notice yet */
    volatile uint8_t fuse_sequence;
    uint32_t fuse_fired_us;
    uint8_t fuse_token[WIRE_COMMAND_FIRE_LENGTH];
};

/* A frame as the main loop sees it. */
struct receiver_frame {
    uint8_t sequence;
    uint8_t type;
    uint8_t length; /* of the payload; may be more than payload holds */
    uint8_t payload[WIRE_LONGEST_COMMAND_PAYLOAD];
    uint16_t crc;   /* tells a command sent again from another one with its id; 0 of a frame that is too long */
    bool overtaken; /* a stop byte came after its first byte */
};

/* Main loop, before interrupts are on. */
void receiver_start(struct receiver *receiver);

/* Main loop: the oldest frame. False when there is none. */
bool receiver_pop(struct receiver *receiver, struct receiver_frame *frame);

/* Main loop: from now on only frames of the session count whose CRC starts there. What waits or has begun is of the one
 * before: it is dropped. */
void receiver_begin_session(struct receiver *receiver, uint16_t crc_start);

/* Main loop: the token of this arming. The fuse stays out until guard_light_fuse. */
void receiver_set_fuse(struct receiver *receiver, uint32_t token);

/* Main loop: the fuse goes out. True when the interrupt fired before that and nobody has taken notice yet; then
 * fired_us says when. */
bool receiver_clear_fuse(struct receiver *receiver, uint32_t *fired_us);

/* Interrupt: would this byte, now, complete the fire command that is waited for? */
static inline bool receiver_fires(const struct receiver *receiver, uint8_t byte)
{
    return byte == WIRE_FLAG && receiver->primed && receiver->fuse_live &&
           receiver->sequence == receiver->fuse_sequence;
}

/* Interrupt: the trigger has been pulled for the frame that this flag completes. */
static inline void receiver_burn_fuse(struct receiver *receiver, uint32_t now_us)
{
    receiver->fuse_live = false;
    receiver->fuse_fired_us = now_us;
    receiver->fuse_fired = true;
}

/* Interrupt: take a byte. */
static inline void receiver_take(struct receiver *receiver, uint8_t byte)
{
    if (byte == WIRE_STOP) {
        for (uint8_t i = 0; i < RECEIVER_SLOTS; i++) {
            receiver->overtaken[i] = true;
        }
        receiver->stopped = true;
        receiver->fuse_live = false;
        receiver->matches = false;
        receiver->primed = false;
        return;
    }
    if (byte == WIRE_FLAG) {
        if (receiver->length >= RECEIVER_OVERHEAD && !receiver->escaped && receiver->crc == CRC_RESIDUE) {
            uint8_t next = (uint8_t)((receiver->head + 1u) % RECEIVER_SLOTS);
            receiver->lengths[receiver->head] = receiver->length;
            if (next == receiver->tail) {
                receiver->lost |= WIRE_LOSS_QUEUE_MASK;
            } else {
                receiver->head = next;
            }
        }
        receiver->length = 0;
        receiver->crc = receiver->crc_start;
        receiver->escaped = false;
        receiver->matches = true;
        receiver->primed = false;
        return;
    }
    if (receiver->length == 0 && !receiver->escaped) {
        receiver->overtaken[receiver->head] = false; /* a frame begins, be it with an escape */
    }
    if (byte == WIRE_ESCAPE) {
        receiver->escaped = true;
        receiver->primed = false;
        return;
    }
    if (receiver->escaped) {
        receiver->escaped = false;
        byte ^= WIRE_ESCAPE_XOR;
    }
    uint16_t crc = crc_add(receiver->crc, byte);
    uint8_t position = receiver->length;
    bool matches = receiver->matches;
    receiver->crc = crc;
    receiver->primed = false;
    if (position < RECEIVER_SLOT_BYTES) {
        receiver->bytes[(uint8_t)(receiver->head * RECEIVER_SLOT_BYTES + position)] = byte;
    }
    if (position == 0) {
        receiver->sequence = byte;
    } else if (position == 1) {
        matches = matches && byte == WIRE_COMMAND_FIRE;
        if (byte == WIRE_COMMAND_IDENTIFY) { /* is of no session */
            receiver->crc = crc_add(crc_add(CRC_START, receiver->sequence), byte);
        }
    } else if (position < 2u + WIRE_COMMAND_FIRE_LENGTH) {
        matches = matches && byte == receiver->fuse_token[position - 2u];
    } else if (position == RECEIVER_SLOT_BYTES - 1u) {
        receiver->primed = matches && crc == CRC_RESIDUE;
    }
    receiver->matches = matches;
    if (position < UINT8_MAX) {
        receiver->length = (uint8_t)(position + 1u);
    }
}

#endif
