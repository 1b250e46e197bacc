/* The receiving half of the line against a reader that knows only whole frames.
 *
 * The first five bytes of an input are the token of the arming and the id that lights its fuse; then come pieces, each
 * begun by a byte that is its kind and ten times a number:
 *
 *     RAW      so many bytes and one more follow, as they are on the line
 *     FRAME    id and type follow, and a payload of that length; a good frame is made of them
 *     FIRE     the fire frame with this token, so many ids from the one waited for
 *     TAKE     the main loop takes so many frames
 *     LIGHT    the fuse is laid (odd number) and lit with the id that follows
 *     FLAW     the fire frame with a bit turned round: which one is the byte that follows
 *     LONG     a good frame with as many bytes of payload as the next byte says, four times that for odd numbers
 *     BEGUN    the fire frame without its last bytes
 *     SESSION  another session begins
 *     STOPPED  a good frame with the id and type that follow, and a stop byte before its byte of that number
 *
 * Which frames come out, in what order, with what in them, which are overtaken by a stop, what is lost, and at which
 * byte the interrupt may fire: all of it must be what the reader says, and nothing else may change. */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "line.h"
#include "receiver.h"
#include "target.h"

#define WAITING_MOST (RECEIVER_SLOTS - 1u)

enum piece { RAW, FRAME, FIRE, TAKE, LIGHT, FLAW, LONG, BEGUN, SESSION, STOPPED, PIECES };

struct expected {
    struct line_frame frame;
    unsigned stops; /* before its first byte */
};

static struct {
    struct receiver *receiver; /* on the heap, where what lies around it is guarded */
    struct line_reader reader;
    struct line_frame frame;
    struct expected waiting[WAITING_MOST];
    unsigned waiting_count;
    unsigned stops;       /* stop bytes until now */
    unsigned stops_begun; /* when the first byte since the last flag came */
    bool lost;
    int32_t session;
    unsigned begun_before; /* bytes of the frame under way that came in the session before */
    bool may_fire; /* a fire frame that begins at the last flag has been compared from its first byte on */
    bool fuse_live;
    uint8_t fuse_id;
    uint8_t token[WIRE_COMMAND_FIRE_LENGTH];
} line;

uint8_t board_lock(void) { return 0; }
void board_unlock(uint8_t before) { (void)before; }

static bool is_the_fire_frame(const struct line_frame *frame)
{
    return frame->type == WIRE_COMMAND_FIRE && frame->length == sizeof line.token &&
           memcmp(frame->payload, line.token, sizeof line.token) == 0 && frame->sequence == line.fuse_id;
}

static void compare(const struct receiver_frame *frame, const struct expected *expected)
{
    unsigned length = expected->frame.length;
    unsigned kept = length < WIRE_LONGEST_COMMAND_PAYLOAD ? length : WIRE_LONGEST_COMMAND_PAYLOAD;
    unsigned told = length < UINT8_MAX - RECEIVER_OVERHEAD ? length : UINT8_MAX - RECEIVER_OVERHEAD;
    if (frame->sequence != expected->frame.sequence || frame->type != expected->frame.type ||
        frame->length != told || memcmp(frame->payload, expected->frame.payload, kept) != 0) {
        target_broken("frames", "a frame comes out other than it came in");
    }
    if (length <= WIRE_LONGEST_COMMAND_PAYLOAD && frame->crc != expected->frame.crc) {
        target_broken("frames", "a frame's CRC is not the one that it came with");
    }
    if (frame->overtaken != (expected->stops != line.stops)) {
        target_broken("S-13", "a stop since a frame's first byte is not noted, or one is that never came");
    }
}

/* What waits in the receiver is what should. */
static void look_through(void)
{
    struct receiver copy = *line.receiver;
    struct receiver_frame frame;
    for (unsigned i = 0; i < line.waiting_count; i++) {
        if (!receiver_pop(&copy, &frame)) {
            target_broken("frames", "a good frame does not come out");
        }
        compare(&frame, &line.waiting[i]);
    }
    if (receiver_pop(&copy, &frame)) {
        target_broken("frames", "a frame comes out that never came in");
    }
    if (((copy.lost & WIRE_LOSS_QUEUE_MASK) != 0) != line.lost) {
        target_broken("frames", "a loss is not told, or one is that was none");
    }
}

/* Of a frame that had begun before the session did, nothing is believed; identify is known by its second byte. */
static bool of_this_session(void)
{
    return line.begun_before <= (line.frame.type == WIRE_COMMAND_IDENTIFY ? 1u : 0u);
}

static void take_byte(uint8_t byte)
{
    struct receiver before = *line.receiver;
    bool fires = receiver_fires(line.receiver, byte);
    bool whole = false;
    if (byte == WIRE_STOP) {
        line.stops++;
        line.fuse_live = false;
        line.may_fire = false;
    } else {
        if (line.reader.count == 0) {
            line.stops_begun = line.stops;
        }
        whole = line_read(&line.reader, line.session, byte, &line.frame) && of_this_session();
    }
    bool should_fire = whole && line.may_fire && line.fuse_live && is_the_fire_frame(&line.frame);
    if (fires != should_fire) {
        target_broken("S-1", fires ? "a frame fires that is not the fire command waited for"
                                   : "the fire command waited for does not fire");
    }
    if (fires) {
        receiver_burn_fuse(line.receiver, 0);
        line.fuse_live = false;
        target_say("  fires");
    }
    receiver_take(line.receiver, byte);
    if (line.receiver->fuse_live != line.fuse_live) {
        target_broken("S-1", "the fuse is lit by a byte of the line, or outlives a stop");
    }
    unsigned slot = before.head * RECEIVER_SLOT_BYTES, behind = slot + RECEIVER_SLOT_BYTES;
    if (memcmp(line.receiver->bytes, before.bytes, slot) != 0 ||
        memcmp(&line.receiver->bytes[behind], &before.bytes[behind], sizeof before.bytes - behind) != 0) {
        target_broken("frames", "a byte is written into another frame's slot");
    }
    if (byte == WIRE_FLAG) {
        line.may_fire = true;
        line.begun_before = 0;
    }
    if (whole && line.waiting_count == WAITING_MOST) {
        line.lost = true;
    } else if (whole) {
        line.waiting[line.waiting_count++] = (struct expected){line.frame, line.stops_begun};
        target_say("  a frame: id %u, type %u, %u bytes of payload", line.frame.sequence, line.frame.type,
                   line.frame.length);
    }
    if (byte == WIRE_FLAG || byte == WIRE_STOP) {
        look_through();
    }
}

static void take_bytes(const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        take_byte(bytes[i]);
    }
}

static void take_long(uint8_t id, unsigned length)
{
    static uint8_t plain[4u * UINT8_MAX + RECEIVER_OVERHEAD];
    plain[0] = id;
    plain[1] = WIRE_COMMAND_FIRE;
    for (unsigned i = 0; i < length; i++) {
        plain[2u + i] = (uint8_t)(i * 7u);
    }
    uint16_t crc = line_crc(line.session, plain, 2u + length);
    plain[2u + length] = (uint8_t)crc;
    plain[3u + length] = (uint8_t)(crc >> 8);
    for (unsigned i = 0; i < length + RECEIVER_OVERHEAD; i++) {
        bool stuffed = plain[i] == WIRE_FLAG || plain[i] == WIRE_ESCAPE || plain[i] == WIRE_STOP;
        if (stuffed) {
            take_byte(WIRE_ESCAPE);
        }
        take_byte((uint8_t)(plain[i] ^ (stuffed ? WIRE_ESCAPE_XOR : 0)));
    }
    take_byte(WIRE_FLAG);
}

static void take_frames(unsigned count)
{
    struct receiver_frame frame;
    for (unsigned i = 0; i < count && receiver_pop(line.receiver, &frame); i++) {
        compare(&frame, &line.waiting[0]);
        memmove(&line.waiting[0], &line.waiting[1], --line.waiting_count * sizeof line.waiting[0]);
    }
    line.receiver->lost = 0;
    line.lost = false;
    look_through();
}

/* As the main loop does: a new arming, or only the permission for the next id. */
static void light(bool lay, uint8_t id)
{
    if (lay) {
        uint32_t token = 0;
        for (unsigned i = sizeof line.token; i-- > 0;) {
            line.token[i] = (uint8_t)(line.token[i] + 0x5Bu);
            token = token << 8 | line.token[i];
        }
        receiver_set_fuse(line.receiver, token);
        line.may_fire = line.reader.count == 0;
    }
    line.receiver->fuse_sequence = line.fuse_id = id;
    line.receiver->fuse_live = line.fuse_live = true;
}

static void begin_session(uint16_t on)
{
    line.session = (uint16_t)(line.session == LINE_NO_SESSION ? on : line.session + 1 + on % UINT16_MAX);
    if (crc_start_of((uint16_t)line.session) == CRC_RESIDUE) {
        line.session ^= 1; /* in that one, what follows a whole frame without a flag is still good; its length tells */
    }
    receiver_begin_session(line.receiver, crc_start_of((uint16_t)line.session));
    line.begun_before = 0;
    for (unsigned i = 0; i < line.reader.count; i++) {
        line.begun_before += line.reader.byte[i] != WIRE_ESCAPE;
    }
    line.waiting_count = 0;
    look_through();
}

/* Bytes of the input, zero behind its end. */
struct source {
    const uint8_t *byte;
    size_t left;
};

static uint8_t next(struct source *from)
{
    if (from->left == 0) {
        return 0;
    }
    from->left--;
    return *from->byte++;
}

static struct line_bytes fire_frame(uint8_t id)
{
    return line_frame(line.session, id, WIRE_COMMAND_FIRE, line.token, sizeof line.token, 0);
}

static void take_piece(struct source *from)
{
    static const char *const names[PIECES] = {
        "bytes",       "frame",      "fire",                 "the main loop takes", "fuse is lit",
        "spoilt fire", "long frame", "fire without its end", "another session",     "a stop in a frame, before byte",
    };
    uint8_t first = next(from);
    uint8_t kind = first % PIECES, number = first / PIECES;
    struct line_bytes bytes = fire_frame(line.fuse_id);
    target_say("%s, %u", names[kind], number);
    switch (kind) {
    case RAW:
        for (unsigned i = 0; i <= number && from->left != 0; i++) {
            take_byte(next(from));
        }
        break;
    case FRAME: {
        uint8_t id = next(from), type = next(from), payload[WIRE_LONGEST_PAYLOAD];
        uint8_t length = number % WIRE_LONGEST_PAYLOAD;
        for (unsigned i = 0; i < length; i++) {
            payload[i] = next(from);
        }
        bytes = line_frame(line.session, id, type, payload, length, 0);
        take_bytes(bytes.byte, bytes.count);
        take_byte(WIRE_FLAG);
        break;
    }
    case FIRE:
        bytes = fire_frame((uint8_t)(line.fuse_id + number));
        take_bytes(bytes.byte, bytes.count);
        take_byte(WIRE_FLAG);
        break;
    case TAKE:
        take_frames(number);
        break;
    case LIGHT:
        light(number & 1u, next(from));
        break;
    case FLAW: {
        uint8_t bit = next(from);
        bytes.byte[bit / 8u % bytes.count] ^= (uint8_t)(1u << bit % 8u);
        take_bytes(bytes.byte, bytes.count);
        take_byte(WIRE_FLAG);
        break;
    }
    case LONG:
        take_long(number, (number & 1u ? 4u : 1u) * next(from));
        break;
    case STOPPED: {
        uint8_t id = next(from), type = next(from);
        bytes = line_frame(line.session, id, type, NULL, 0, 0);
        unsigned before = number % (bytes.count + 1u);
        take_bytes(bytes.byte, before);
        take_byte(WIRE_STOP);
        take_bytes(&bytes.byte[before], bytes.count - before);
        take_byte(WIRE_FLAG);
        break;
    }
    case SESSION:
        begin_session((uint16_t)(number | next(from) << 8));
        break;
    default:
        take_bytes(bytes.byte, number < bytes.count ? bytes.count - number : 0);
        break;
    }
}

void target_run(const uint8_t *bytes, size_t count)
{
    struct source from = {bytes, count};
    memset(&line, 0, sizeof line);
    line.session = LINE_NO_SESSION;
    line.reader.of_no_session = WIRE_COMMAND_IDENTIFY;
    line.receiver = malloc(sizeof *line.receiver);
    if (line.receiver == NULL) {
        abort();
    }
    receiver_start(line.receiver);
    for (unsigned i = 0; i < sizeof line.token; i++) {
        line.token[i] = next(&from);
    }
    light(true, next(&from));
    while (from.left != 0) {
        take_piece(&from);
    }
    free(line.receiver);
}
