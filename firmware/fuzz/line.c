#include "line.h"

#include <string.h>

#define CRC_BYTES 2u
#define HEAD_BYTES 2u

static uint16_t divide(uint16_t remainder, uint8_t byte)
{
    for (unsigned bit = 0; bit < 8u; bit++) {
        bool one = ((remainder ^ byte >> bit) & 1u) != 0;
        remainder = (uint16_t)(remainder >> 1 ^ (one ? 0x8408u : 0));
    }
    return remainder;
}

uint16_t line_crc(int32_t session, const uint8_t *bytes, unsigned count)
{
    uint16_t remainder = 0xFFFFu;
    if (session != LINE_NO_SESSION) {
        remainder = divide(remainder, (uint8_t)session);
        remainder = divide(remainder, (uint8_t)(session >> 8));
    }
    for (unsigned i = 0; i < count; i++) {
        remainder = divide(remainder, bytes[i]);
    }
    return (uint16_t)~remainder;
}

static void put_stuffed(struct line_bytes *bytes, uint8_t byte)
{
    if (byte == WIRE_FLAG || byte == WIRE_ESCAPE || byte == WIRE_STOP) {
        bytes->byte[bytes->count++] = WIRE_ESCAPE;
        byte ^= WIRE_ESCAPE_XOR;
    }
    bytes->byte[bytes->count++] = byte;
}

struct line_bytes line_frame(int32_t session, uint8_t sequence, uint8_t type, const uint8_t *payload, uint8_t length,
                             uint16_t spoil)
{
    struct line_bytes bytes = {{0}, 0};
    uint8_t plain[HEAD_BYTES + WIRE_LONGEST_PAYLOAD + CRC_BYTES] = {sequence, type};
    if (length != 0) {
        memcpy(&plain[HEAD_BYTES], payload, length);
    }
    session = type == WIRE_COMMAND_IDENTIFY ? LINE_NO_SESSION : session;
    uint16_t crc = (uint16_t)(line_crc(session, plain, HEAD_BYTES + length) ^ spoil);
    plain[HEAD_BYTES + length] = (uint8_t)crc;
    plain[HEAD_BYTES + length + 1u] = (uint8_t)(crc >> 8);
    for (unsigned i = 0; i < HEAD_BYTES + length + CRC_BYTES; i++) {
        put_stuffed(&bytes, plain[i]);
    }
    return bytes;
}

bool line_read(struct line_reader *reader, int32_t session, uint8_t byte, struct line_frame *frame)
{
    if (byte != WIRE_FLAG) {
        if (reader->count < LINE_LONGEST) {
            reader->byte[reader->count++] = byte;
        }
        return false;
    }
    static uint8_t plain[LINE_LONGEST];
    unsigned count = 0, end = reader->count;
    reader->count = 0;
    for (unsigned i = 0; i < end; i++) {
        bool escaped = false;
        while (i < end && reader->byte[i] == WIRE_ESCAPE) {
            escaped = true;
            i++;
        }
        if (i == end) {
            return false; /* an escape before the flag gives up the frame */
        }
        plain[count++] = (uint8_t)(reader->byte[i] ^ (escaped ? WIRE_ESCAPE_XOR : 0));
    }
    if (count < HEAD_BYTES + CRC_BYTES || end == LINE_LONGEST) {
        return false;
    }
    frame->sequence = plain[0];
    frame->type = plain[1];
    frame->length = count - HEAD_BYTES - CRC_BYTES;
    unsigned kept = frame->length < WIRE_LONGEST_PAYLOAD ? frame->length : WIRE_LONGEST_PAYLOAD;
    memcpy(frame->payload, &plain[HEAD_BYTES], kept);
    frame->crc = (uint16_t)(plain[count - 2u] | plain[count - 1u] << 8);
    session = frame->type == reader->of_no_session ? LINE_NO_SESSION : session;
    return frame->crc == line_crc(session, plain, count - CRC_BYTES);
}
