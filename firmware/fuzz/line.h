/* The line as the fuzzers know it: frames made, and frames read again, by other means than the core's. A frame is read
 * when it is whole, from the bytes as they came; the core reads it byte by byte. The CRC is computed bit by bit. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* Longer than any frame that a fuzzer can make of its input. */
#define LINE_LONGEST 4096u

struct line_bytes {
    uint8_t byte[64];
    uint8_t count;
};

struct line_frame {
    uint8_t sequence;
    uint8_t type;
    unsigned length; /* of the payload */
    uint8_t payload[WIRE_LONGEST_PAYLOAD]; /* as much of it as fits */
    uint16_t crc; /* as it came */
};

/* What came since the last flag. */
struct line_reader {
    uint8_t of_no_session; /* the type of the one frame that is not of a session: identify, or its answer */
    uint8_t byte[LINE_LONGEST];
    unsigned count;
};

/* Before anybody has said who he is. */
#define LINE_NO_SESSION (-1)

/* CRC-16/X-25 of a frame's bytes, begun as if the session's number stood before them. */
uint16_t line_crc(int32_t session, const uint8_t *bytes, unsigned count);

/* A whole frame but for its flag. `spoil` is XORed into the CRC; 0 makes a good frame. */
struct line_bytes line_frame(int32_t session, uint8_t sequence, uint8_t type, const uint8_t *payload, uint8_t length,
                             uint16_t spoil);

/* A byte comes in; stop bytes are not for this function. True when it ends a good frame, which is left in `frame`. */
bool line_read(struct line_reader *reader, int32_t session, uint8_t byte, struct line_frame *frame);

#endif
