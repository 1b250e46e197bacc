#include "receiver.h"

#include <string.h>

#include "board.h"

void receiver_start(struct receiver *receiver)
{
    memset(receiver, 0, sizeof *receiver);
    receiver->crc_start = CRC_START;
    receiver->crc = CRC_START;
    /* `matches` stays false until the first flag: the line may come up in the middle of a frame. */
}

bool receiver_pop(struct receiver *receiver, struct receiver_frame *frame)
{
    uint8_t slot = receiver->tail;
    if (slot == receiver->head) {
        return false;
    }
    const uint8_t *bytes = &receiver->bytes[slot * RECEIVER_SLOT_BYTES];
    uint8_t length = receiver->lengths[slot];
    frame->sequence = bytes[0];
    frame->type = bytes[1];
    frame->length = (uint8_t)(length - RECEIVER_OVERHEAD);
    memcpy(frame->payload, &bytes[2], WIRE_LONGEST_COMMAND_PAYLOAD);
    frame->crc = 0;
    if (frame->length <= WIRE_LONGEST_COMMAND_PAYLOAD) {
        const uint8_t *crc = &bytes[2u + frame->length];
        frame->crc = (uint16_t)(crc[0] | ((uint16_t)crc[1] << 8));
    }
    frame->overtaken = receiver->overtaken[slot];
    receiver->tail = (uint8_t)((slot + 1u) % RECEIVER_SLOTS);
    return true;
}

void receiver_begin_session(struct receiver *receiver, uint16_t crc_start)
{
    uint8_t before = board_lock();
    /* Between two frames this is the new start; in the middle of one no CRC can come right any more. */
    receiver->crc ^= (uint16_t)(receiver->crc_start ^ crc_start);
    receiver->crc_start = crc_start;
    receiver->primed = false;
    receiver->tail = receiver->head;
    board_unlock(before);
}

void receiver_set_fuse(struct receiver *receiver, uint32_t token)
{
    /* The fuse is out, and a frame under way is not to match: what it is compared with may change meanwhile. */
    for (uint8_t i = 0; i < WIRE_COMMAND_FIRE_LENGTH; i++) {
        receiver->fuse_token[i] = (uint8_t)token;
        token >>= 8;
    }
    uint8_t before = board_lock();
    receiver->matches = receiver->length == 0; /* a frame under way was compared with another token */
    receiver->primed = false;
    receiver->fuse_live = false;
    receiver->fuse_fired = false;
    board_unlock(before);
}

bool receiver_clear_fuse(struct receiver *receiver, uint32_t *fired_us)
{
    uint8_t before = board_lock();
    bool fired = receiver->fuse_fired;
    *fired_us = receiver->fuse_fired_us;
    receiver->fuse_live = false;
    receiver->fuse_fired = false;
    board_unlock(before);
    return fired;
}
