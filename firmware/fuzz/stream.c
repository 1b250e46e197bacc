/* The whole core under a program of events: what a controller, hands at the cannon, a bad line, a bad supply and a main
 * loop that hangs can do, in any order, with every promise asserted after each step.
 *
 * The first byte of an input says where it begins (see `starts`); then each four bytes are one event: its kind and
 * three arguments. Every sequence of bytes is a program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "line.h"
#include "target.h"
#include "witness.h"

#define EVENT_BYTES 4u
#define MOST_EVENTS 256u
#define MOST_STEPS 3000u /* of the main loop, for one input */
#define LOOP_US 1000u
#define SLOW_LOOP_US 20000u
#define BEAT_US 100000u
#define LATE_US 240000u /* no more time passes unseen by the timers; see pass_time in the core */
#define FREE UINT32_MAX
#define SENT_FRAMES 8u
#define PERMITTED (WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK)
#define LEVER (WIRE_INPUT_LEVER_DRAWN_MASK | WIRE_INPUT_LEVER_LATCHED_MASK)

enum kind {
    COMMAND, /* the command with that number, and then a step */
    QUEUED,  /* ... and no step */
    FLAWED,  /* ... with something wrong */
    AGAIN,   /* a frame sent before */
    BEGUN,   /* a command but for its last bytes */
    ENDED,   /* those bytes */
    BYTES,   /* three bytes as they are */
    STOP,    /* stop bytes */
    PINS,    /* pins change */
    GLITCH,  /* a pin changes and changes back */
    STEP,    /* the main loop, perhaps with an interrupt before its outputs are made true */
    WAIT,    /* time, with the main loop running and perhaps a controller that says that it is there */
    WORK,    /* ... until the state changes */
    HANG,    /* time without the main loop */
    RESET,   /* and power that comes back */
    FAIL,    /* power fails at a write to EEPROM to come */
    LINE,    /* the line away from the cannon takes nothing, some bytes, or all again */
    SHOT,    /* leaves the barriers of the muzzle gate */
    HANDS,   /* the lever follows its servos, or does not */
    KIND_COUNT,
};

struct start {
    const char *name;
    uint8_t state;
    uint8_t trigger_kind;
    bool prepared; /* with fast servos, in EEPROM; otherwise a blank chip */
    bool loaded;   /* a shot is seated */
};

static const struct start starts[] = {
    {"a blank chip", WIRE_STATE_SAFE, 0, false, false},
    {"safe", WIRE_STATE_SAFE, 0, true, false},
    {"homing", WIRE_STATE_HOMING, 0, true, false},
    {"ready", WIRE_STATE_READY, 0, true, false},
    {"cocking", WIRE_STATE_COCKING, 0, true, false},
    {"cocked", WIRE_STATE_COCKED, 0, true, false},
    {"cocked and loaded", WIRE_STATE_COCKED, 0, true, true},
    {"armed", WIRE_STATE_ARMED, 0, true, true},
    {"firing", WIRE_STATE_FIRING, 0, true, true},
    {"letting down", WIRE_STATE_LETTING_DOWN, 0, true, false},
    {"service", WIRE_STATE_SERVICE, 0, true, false},
    {"safe, the latch servo as trigger", WIRE_STATE_SAFE, 1, true, false},
    {"cocking, the latch servo as trigger", WIRE_STATE_COCKING, 1, true, false},
    {"armed, the latch servo as trigger", WIRE_STATE_ARMED, 1, true, true},
    {"firing, the latch servo as trigger", WIRE_STATE_FIRING, 1, true, true},
};
#define START_COUNT (sizeof starts / sizeof starts[0])

/* The cannon, the lever, the controller. */
struct world {
    struct witness witness;
    unsigned steps;
    bool lever_follows, lever_latched;
    uint8_t sent_id; /* of the last command in its turn */
    uint64_t beat_us;
    bool line_free;
    unsigned quiet_steps; /* since a byte came in */
    struct line_bytes frames[SENT_FRAMES];
    unsigned frame_count;
    struct line_bytes begun;
    uint8_t begun_sent;
};

static struct world now;
static struct host *host;
static struct world *prepared_worlds[START_COUNT];
static struct host *prepared_hosts[START_COUNT];

/* Which states were come to from which, and what happened in which: the fuzzer keeps inputs that reach something new
 * here too. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t
    changes[WIRE_STATE_COUNT][WIRE_STATE_COUNT][WIRE_CAUSE_COUNT],
    events_in[WIRE_STATE_COUNT][KIND_COUNT + WIRE_COMMAND_COUNT + 2u];

/* -- what happens -------------------------------------------------------------------------------------------------- */

/* The lever as it is in a cannon that works: at the breech when drawn there, in the latch when that turns meanwhile. */
static void move_lever(void)
{
    const uint16_t *values = now.witness.settings;
    uint16_t draw = now.witness.seen.pulse_ticks[WIRE_AXIS_DRAW];
    uint16_t latch = now.witness.seen.pulse_ticks[WIRE_AXIS_LATCH];
    if (now.witness.seen.trigger || latch == values[WIRE_SETTING_LATCH_FREE_TICKS]) {
        now.lever_latched = false;
    }
    bool drawn = draw == values[WIRE_SETTING_DRAW_BREECH_TICKS] || now.lever_latched;
    now.lever_latched = drawn && (now.lever_latched || latch == values[WIRE_SETTING_LATCH_HELD_TICKS] ||
                                  latch == values[WIRE_SETTING_LATCH_LUBRICATE_TICKS]);
    uint8_t lever = (uint8_t)((drawn ? WIRE_INPUT_LEVER_DRAWN_MASK : 0) |
                              (now.lever_latched ? WIRE_INPUT_LEVER_LATCHED_MASK : 0));
    if (now.lever_follows && (now.witness.pins & LEVER) != lever) {
        witness_set_pins(&now.witness, host, (uint8_t)((now.witness.pins & ~LEVER) | lever));
    }
}

static void stepped(uint8_t from)
{
    const struct host_view *seen = &now.witness.seen;
    now.steps++;
    now.quiet_steps++;
    if (seen->state != from) {
        changes[from][seen->state][seen->cause] = 1;
    }
    if (now.line_free) {
        now.sent_id = seen->last_id;
    }
    move_lever();
}

static void step(void)
{
    uint8_t from = now.witness.seen.state;
    witness_think(&now.witness, host);
    witness_act(&now.witness, host);
    stepped(from);
}

static void receive(const struct line_bytes *bytes, uint8_t first, uint8_t end)
{
    for (uint8_t i = first; i < end; i++) {
        witness_receive(&now.witness, host, bytes->byte[i]);
    }
    now.quiet_steps = 0;
}

static struct line_bytes with_flag(struct line_bytes bytes)
{
    bytes.byte[bytes.count++] = WIRE_FLAG;
    return bytes;
}

static void send(struct line_bytes bytes)
{
    now.frames[now.frame_count++ % SENT_FRAMES] = bytes;
    receive(&bytes, 0, bytes.count);
}

static const uint8_t payload_lengths[WIRE_COMMAND_COUNT + 1u] = {
    [WIRE_COMMAND_IDENTIFY] = WIRE_COMMAND_IDENTIFY_LENGTH,
    [WIRE_COMMAND_HEARTBEAT] = WIRE_COMMAND_HEARTBEAT_LENGTH,
    [WIRE_COMMAND_CONFIGURE] = WIRE_COMMAND_CONFIGURE_LENGTH,
    [WIRE_COMMAND_READ_SETTING] = WIRE_COMMAND_READ_SETTING_LENGTH,
    [WIRE_COMMAND_MOVE] = WIRE_COMMAND_MOVE_LENGTH,
    [WIRE_COMMAND_FIRE] = WIRE_COMMAND_FIRE_LENGTH,
    [WIRE_COMMAND_READ_HISTORY] = WIRE_COMMAND_READ_HISTORY_LENGTH,
};

static const char *command_name(uint8_t type)
{
    static const char *const names[WIRE_COMMAND_COUNT + 1u] = {
        [WIRE_COMMAND_IDENTIFY] = "identify",   [WIRE_COMMAND_STATUS] = "status",
        [WIRE_COMMAND_HEARTBEAT] = "heartbeat", [WIRE_COMMAND_CONFIGURE] = "configure",
        [WIRE_COMMAND_READ_SETTING] = "read_setting", [WIRE_COMMAND_SAVE_SETTINGS] = "save_settings",
        [WIRE_COMMAND_HOME] = "home",           [WIRE_COMMAND_MOVE] = "move",
        [WIRE_COMMAND_COCK] = "cock",           [WIRE_COMMAND_LOAD] = "load",
        [WIRE_COMMAND_LET_DOWN] = "let_down",   [WIRE_COMMAND_ARM] = "arm",
        [WIRE_COMMAND_FIRE] = "fire",           [WIRE_COMMAND_SAFE] = "safe",
        [WIRE_COMMAND_SERVICE] = "service",     [WIRE_COMMAND_READ_HISTORY] = "read_history",
    };
    return type <= WIRE_COMMAND_COUNT && names[type] != NULL ? names[type] : "an unknown command";
}

static void put_u16(uint8_t *payload, unsigned at, uint32_t value)
{
    payload[at] = (uint8_t)value;
    payload[at + 1u] = (uint8_t)(value >> 8);
}

/* The next command in its turn, whole. */
static struct line_bytes frame_of(uint8_t type, const uint8_t *payload, uint8_t length)
{
    now.sent_id++;
    return with_flag(line_frame(witness_session(&now.witness), now.sent_id, type, payload, length, 0));
}

/* A value for a setting or a position: bounds, and just beyond them, more often than chance would have it. */
static uint16_t value_between(uint16_t least, uint16_t most, uint8_t choice)
{
    switch (choice) {
    case 0:
        return least;
    case 1:
        return most;
    case 2:
        return (uint16_t)(least - 1u);
    case 3:
        return (uint16_t)(most + 1u);
    default:
        return (uint16_t)(least + (uint32_t)(most - least) * choice / UINT8_MAX);
    }
}

static uint16_t setting_value(uint8_t setting, uint8_t choice)
{
    static const struct {
        uint16_t factory, least, most;
    } limits[WIRE_SETTING_COUNT] = {WIRE_SETTINGS_TABLE};
    return setting < WIRE_SETTING_COUNT ? value_between(limits[setting].least, limits[setting].most, choice) : choice;
}

static uint8_t put_payload(uint8_t type, uint8_t one, uint8_t two, uint8_t *payload)
{
    const struct witness *witness = &now.witness;
    switch (type) {
    case WIRE_COMMAND_IDENTIFY:
        payload[0] = (uint8_t)(WIRE_VERSION + one / 128u);
        put_u16(payload, 1, (uint32_t)(witness->seen.session + one % 128u));
        break;
    case WIRE_COMMAND_HEARTBEAT:
        payload[0] = (uint8_t)(witness->newest_event + one);
        break;
    case WIRE_COMMAND_CONFIGURE:
        payload[0] = one;
        put_u16(payload, 1, setting_value(one, two));
        break;
    case WIRE_COMMAND_READ_SETTING:
        payload[0] = one;
        break;
    case WIRE_COMMAND_READ_HISTORY:
        put_u16(payload, 0, (uint32_t)(one | two << 8));
        break;
    case WIRE_COMMAND_MOVE: {
        uint8_t axis = one % 3u;
        payload[0] = one;
        put_u16(payload, 1, value_between(witness->settings[4u * axis], witness->settings[4u * axis + 1u], two));
        break;
    }
    case WIRE_COMMAND_FIRE: {
        uint32_t token = two >= 128u                               ? witness->seen.token ^ 1u << two % 32u
                         : two == 0 || witness->token_count == 0 ? witness->seen.token
                                                                 : witness->tokens[two % witness->token_count];
        put_u16(payload, 0, token);
        put_u16(payload, 2, token >> 16);
        break;
    }
    default:
        break;
    }
    return type <= WIRE_COMMAND_COUNT ? payload_lengths[type] : (uint8_t)(one % 8u);
}

/* The frame of a command, in its turn, without its flag. */
static struct line_bytes command_frame(uint8_t type, uint8_t one, uint8_t two)
{
    uint8_t payload[WIRE_LONGEST_PAYLOAD] = {0};
    uint8_t length = put_payload(type, one, two, payload);
    now.sent_id++;
    target_say("%s, id %u, %u %u", command_name(type), now.sent_id, one, two);
    return line_frame(witness_session(&now.witness), now.sent_id, type, payload, length, 0);
}

/* A command on a good line, with nothing before it, is answered by the end of its step. */
static void command(uint8_t type, uint8_t one, uint8_t two)
{
    struct witness *witness = &now.witness;
    bool alone = now.quiet_steps > WIRE_COMMAND_COUNT && witness->heard.count == 0 && now.line_free &&
                 witness->seen.powered && !witness->stopped;
    bool other = type == WIRE_COMMAND_IDENTIFY && one % 128u != 0;
    witness->answers = 0;
    send(with_flag(command_frame(type, one, two)));
    witness->answer_expected = alone && type != WIRE_COMMAND_IDENTIFY;
    witness->answer_expected_id = now.sent_id;
    step();
    if (!witness->seen.powered) {
        return;
    }
    if (witness->answer_expected && witness->answers != 1) {
        target_broken("line", witness->answers == 0 ? "a command has no answer" : "a command has two answers");
    }
    witness->answer_expected = false;
    if (alone && other && witness->seen.state != WIRE_STATE_SAFE &&
        witness->seen.state != WIRE_STATE_LETTING_DOWN) {
        target_broken("S-4", "a new controller finds it at work");
    }
}

static void pass(uint32_t duration_us)
{
    witness_pass(&now.witness, host, duration_us);
}

/* Time with the main loop running, and a heartbeat every 100 ms if there is a controller. */
static void wait(unsigned loops, uint32_t loop_us, bool beats, bool until_change)
{
    uint8_t from = now.witness.seen.state;
    for (unsigned i = 0; i < loops && now.steps < MOST_STEPS; i++) {
        if (beats && now.witness.clock_us - now.beat_us >= BEAT_US) {
            uint8_t payload[] = {now.witness.newest_event};
            now.beat_us = now.witness.clock_us;
            send(frame_of(WIRE_COMMAND_HEARTBEAT, payload, sizeof payload));
        }
        pass(loop_us);
        step();
        if (until_change && now.witness.seen.state != from) {
            return;
        }
    }
}

static void set_pins(uint8_t levels)
{
    target_say("pins: stop %s, key %s, lane %s, lever %s%s, barriers %s %s", levels & 0x01u ? "released" : "pressed",
               levels & 0x02u ? "on" : "off", levels & 0x40u ? "clear" : "not clear",
               levels & 0x04u ? "drawn" : "forward", levels & 0x08u ? " and latched" : "",
               levels & 0x10u ? "blocked" : "free", levels & 0x20u ? "blocked" : "free");
    witness_set_pins(&now.witness, host, levels);
}

static void send_flawed(uint8_t type, uint8_t flaw, uint8_t how)
{
    static const char *const names[] = {"another id", "a bit turned round", "a wrong CRC", "a byte too much",
                                        "a stop byte within", "a flag within", "cut short", "another session"};
    struct line_bytes bytes = command_frame(type, how, 0);
    uint8_t at = (uint8_t)(how % bytes.count);
    uint8_t payload[WIRE_LONGEST_PAYLOAD] = {0};
    uint8_t length = put_payload(type, 0, 0, payload);
    target_say("  but with %s", names[flaw % 8u]);
    switch (flaw % 8u) {
    case 0:
        bytes = line_frame(witness_session(&now.witness), (uint8_t)(now.sent_id + how), type, payload, length, 0);
        break;
    case 1:
        bytes.byte[at] ^= (uint8_t)(1u << how % 8u);
        break;
    case 2:
        bytes = line_frame(witness_session(&now.witness), now.sent_id, type, payload, length, (uint16_t)(how + 1u));
        break;
    case 3:
        bytes = line_frame(witness_session(&now.witness), now.sent_id, type, payload, (uint8_t)(length + 1u), 0);
        break;
    case 4:
    case 5:
        memmove(&bytes.byte[at + 1u], &bytes.byte[at], bytes.count - at);
        bytes.byte[at] = flaw % 8u == 4u ? WIRE_STOP : WIRE_FLAG;
        bytes.count++;
        break;
    case 6:
        bytes.count = at;
        break;
    default:
        bytes = line_frame((uint16_t)(now.witness.seen.session + how), now.sent_id, type, payload, length, 0);
        break;
    }
    send(with_flag(bytes));
}

static void interrupt(uint8_t what, uint8_t how)
{
    switch (what % 4u) {
    case 1:
        target_say("  a stop byte behind the core");
        witness_receive(&now.witness, host, WIRE_STOP);
        now.quiet_steps = 0;
        break;
    case 2:
        target_say("  pins %02X fall behind the core", how);
        witness_set_pins(&now.witness, host, (uint8_t)(now.witness.pins & ~how));
        break;
    case 3:
        target_say("  bytes behind the core");
        if (now.begun_sent < now.begun.count) {
            receive(&now.begun, now.begun_sent, now.begun.count);
            now.begun_sent = now.begun.count;
        } else {
            send(with_flag(command_frame(how % (WIRE_COMMAND_COUNT + 1u), 0, 0)));
        }
        break;
    default:
        break;
    }
}

static void shoot(uint8_t first_us, uint8_t second_us)
{
    target_say("the shot leaves the barriers");
    witness_set_pins(&now.witness, host, (uint8_t)(now.witness.pins & ~WIRE_INPUT_GATE_FIRST_BLOCKED_MASK));
    pass(first_us * 10u);
    witness_set_pins(&now.witness, host, (uint8_t)(now.witness.pins | WIRE_INPUT_GATE_SECOND_BLOCKED_MASK));
    pass(second_us * 10u);
    witness_set_pins(&now.witness, host, (uint8_t)(now.witness.pins & ~WIRE_INPUT_GATE_SECOND_BLOCKED_MASK));
    step();
}

static void hang(unsigned count)
{
    target_say("the main loop hangs for %u ms", 10u * count);
    for (unsigned i = 0; i < count; i++) {
        pass(10000u);
    }
    now.witness.catching_up = 10000u * count > LATE_US;
    for (unsigned i = 0; i <= 10000u * count / LATE_US; i++) {
        now.witness.catching_up = i < 10000u * count / LATE_US;
        step();
    }
}

static void happen(const uint8_t *event)
{
    uint8_t kind = event[0] % KIND_COUNT, one = event[1], two = event[2], three = event[3];
    uint8_t type = one % (WIRE_COMMAND_COUNT + 2u);
    events_in[now.witness.seen.state][kind == COMMAND ? KIND_COUNT + type : kind] = 1;
    switch (kind) {
    case COMMAND:
        command(type, two, three);
        break;
    case QUEUED:
        send(with_flag(command_frame(type, two, three)));
        break;
    case FLAWED:
        send_flawed(type, two, three);
        break;
    case AGAIN:
        if (now.frame_count != 0) {
            target_say("the frame before last but %u again", one % SENT_FRAMES);
            struct line_bytes bytes = now.frames[(now.frame_count + one) % SENT_FRAMES];
            receive(&bytes, 0, bytes.count);
        }
        break;
    case BEGUN:
        now.begun = with_flag(command_frame(type, two, 0));
        now.begun_sent = (uint8_t)(now.begun.count - 1u - three % now.begun.count);
        target_say("  but for its last %u bytes", now.begun.count - now.begun_sent);
        receive(&now.begun, 0, now.begun_sent);
        break;
    case ENDED:
        target_say("its last bytes");
        receive(&now.begun, now.begun_sent, now.begun.count);
        now.begun_sent = now.begun.count;
        break;
    case BYTES:
        target_say("bytes %02X %02X %02X", one, two, three);
        receive(&(struct line_bytes){{one, two, three}, 3}, 0, 3);
        break;
    case STOP: {
        unsigned count = one == UINT8_MAX ? 256u : 1u + one % 4u;
        target_say("%u stop bytes", count);
        for (unsigned i = 0; i < count; i++) {
            witness_receive(&now.witness, host, WIRE_STOP);
        }
        now.quiet_steps = 0;
        break;
    }
    case PINS:
        set_pins((uint8_t)((now.witness.pins ^ one) & 0x7Fu));
        wait(two % 8u, LOOP_US, false, false);
        break;
    case GLITCH:
        target_say("pins %02X change and change back", one & 0x7Fu);
        witness_set_pins(&now.witness, host, (uint8_t)((now.witness.pins ^ one) & 0x7Fu));
        witness_set_pins(&now.witness, host, (uint8_t)((now.witness.pins ^ one) & 0x7Fu));
        break;
    case STEP: {
        uint8_t from = now.witness.seen.state;
        witness_think(&now.witness, host);
        interrupt(one, two);
        witness_act(&now.witness, host);
        stepped(from);
        break;
    }
    case WAIT:
        target_say("%u loops of %u ms%s", one, two & 1u ? 20u : 1u, two & 2u ? ", with heartbeats" : "");
        wait(one, two & 1u ? SLOW_LOOP_US : two & 4u ? LOOP_US / 4u : LOOP_US, two & 2u, false);
        break;
    case WORK:
        target_say("until the state changes");
        wait(one * 2u, SLOW_LOOP_US, !(two & 1u), true);
        break;
    case HANG:
        hang(one % 128u);
        break;
    case RESET:
        target_say("a reset, cause %u", one % WIRE_RESET_CAUSE_COUNT + 1u);
        witness_reset(&now.witness, host, (uint8_t)(one % WIRE_RESET_CAUSE_COUNT + 1u));
        now.quiet_steps = 0;
        wait(two % 8u, LOOP_US, false, false);
        break;
    case FAIL:
        target_say("power fails after %u more bytes to EEPROM", one % 64u);
        host_fail_after_writes(host, one % 64u);
        break;
    case LINE:
        now.line_free = one % 4u == 0;
        target_say(now.line_free ? "the line is free" : "the line takes %u bytes", two);
        host_line_takes(host, now.line_free ? FREE : two);
        now.quiet_steps = 0;
        break;
    case SHOT:
        shoot(one, two);
        break;
    default:
        now.lever_follows = (one & 1u) == 0;
        target_say(now.lever_follows ? "the lever follows" : "the lever does as it likes");
        break;
    }
}

/* -- where programs begin ------------------------------------------------------------------------------------------ */

static void expect(uint8_t state)
{
    if (now.witness.seen.state != state) {
        fprintf(stderr, "fuzz: no way leads to the start in %s\n", witness_state_name(state));
        exit(2);
    }
}

static void configure(uint8_t setting, uint16_t value)
{
    uint8_t payload[WIRE_COMMAND_CONFIGURE_LENGTH] = {setting};
    put_u16(payload, 1, value);
    send(frame_of(WIRE_COMMAND_CONFIGURE, payload, sizeof payload));
    step();
}

/* Fast servos, so that little time takes the cannon far. */
static void store_fast_settings(uint8_t trigger_kind)
{
    static const uint8_t speeds[] = {WIRE_SETTING_TRAVERSE_SPEED_TICKS, WIRE_SETTING_AZIMUTH_SPEED_TICKS,
                                     WIRE_SETTING_ELEVATION_SPEED_TICKS, WIRE_SETTING_DRAW_SPEED_TICKS,
                                     WIRE_SETTING_LATCH_SPEED_TICKS};
    for (unsigned i = 0; i < sizeof speeds; i++) {
        configure(speeds[i], 400);
    }
    configure(WIRE_SETTING_DRAW_EASE_SPEED_TICKS, 100);
    configure(WIRE_SETTING_DWELL_MS, 6000);
    configure(WIRE_SETTING_LOADER_PRESENT, 1);
    configure(WIRE_SETTING_TRIGGER_KIND, trigger_kind);
    command(WIRE_COMMAND_SAVE_SETTINGS, 0, 0);
    wait(300, LOOP_US, true, false); /* until all of it is written */
}

static void command_to(uint8_t type, uint8_t state)
{
    command(type, 0, 0);
    if (now.witness.seen.state != state) {
        wait(200, SLOW_LOOP_US, true, true);
    }
    expect(state);
}

static void prepare(const struct start *start)
{
    memset(&now, 0, sizeof now);
    now.line_free = now.lever_follows = true;
    witness_begin(&now.witness, host);
    witness_set_pins(&now.witness, host, PERMITTED);
    if (!start->prepared) {
        return;
    }
    wait(100, LOOP_US, false, false);
    command(WIRE_COMMAND_IDENTIFY, 1, 0);
    store_fast_settings(start->trigger_kind);
    uint8_t state = start->state;
    if (state == WIRE_STATE_SAFE) {
        return;
    }
    command_to(WIRE_COMMAND_HOME, WIRE_STATE_HOMING);
    if (state == WIRE_STATE_HOMING) {
        return;
    }
    wait(400, SLOW_LOOP_US, true, true);
    expect(WIRE_STATE_READY);
    if (state == WIRE_STATE_READY) {
        return;
    }
    if (state == WIRE_STATE_SERVICE) {
        command_to(WIRE_COMMAND_SERVICE, WIRE_STATE_SERVICE);
        return;
    }
    command_to(WIRE_COMMAND_COCK, WIRE_STATE_COCKING);
    if (state == WIRE_STATE_COCKING) {
        return;
    }
    wait(400, SLOW_LOOP_US, true, true);
    expect(WIRE_STATE_COCKED);
    if (state == WIRE_STATE_LETTING_DOWN) {
        command_to(WIRE_COMMAND_LET_DOWN, WIRE_STATE_LETTING_DOWN);
    }
    if (!start->loaded) {
        return;
    }
    witness_set_pins(&now.witness, host, now.witness.pins | WIRE_INPUT_GATE_FIRST_BLOCKED_MASK);
    wait(8, LOOP_US, false, false);
    if (state == WIRE_STATE_COCKED) {
        return;
    }
    command_to(WIRE_COMMAND_ARM, WIRE_STATE_ARMED);
    if (state == WIRE_STATE_FIRING) {
        command_to(WIRE_COMMAND_FIRE, WIRE_STATE_FIRING);
    }
}

static void *unless_null(void *room)
{
    if (room == NULL) {
        fputs("fuzz: no memory is left\n", stderr);
        exit(2);
    }
    return room;
}

static struct host *new_host(void) { return unless_null(host_new()); }

static void begin(unsigned start)
{
    if (host == NULL) {
        host = new_host();
    }
    if (prepared_hosts[start] == NULL) {
        struct host *blank = new_host();
        host_copy(host, blank);
        host_free(blank);
        prepare(&starts[start]);
        now.steps = 0;
        prepared_worlds[start] = unless_null(malloc(sizeof now));
        *prepared_worlds[start] = now;
        prepared_hosts[start] = new_host();
        host_copy(prepared_hosts[start], host);
    }
    host_copy(host, prepared_hosts[start]);
    now = *prepared_worlds[start];
    target_say("from %s", starts[start].name);
}

void target_run(const uint8_t *bytes, size_t count)
{
    if (count == 0) {
        return;
    }
    begin(bytes[0] % START_COUNT);
    bytes++;
    count--;
    for (unsigned i = 0; i < MOST_EVENTS && count >= EVENT_BYTES && now.steps < MOST_STEPS; i++) {
        happen(bytes);
        bytes += EVENT_BYTES;
        count -= EVENT_BYTES;
    }
    step();
}

/* -- inputs that are programs -------------------------------------------------------------------------------------- */

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned seed);

/* xorshift32; the fuzzer gives the seed. */
static uint32_t draw(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void put_any_event(uint8_t *event, uint32_t *seed)
{
    event[0] = (uint8_t)(draw(seed) % KIND_COUNT);
    for (unsigned i = 1; i < EVENT_BYTES; i++) {
        uint32_t drawn = draw(seed);
        event[i] = (uint8_t)(drawn & 0x300u ? drawn % 17u : drawn >> 16);
    }
    if (event[0] == PINS || event[0] == GLITCH) {
        event[1] = (uint8_t)(1u << draw(seed) % 7u);
    }
}

/* Half of the time whole events come, go, change places or change; otherwise bytes do as libFuzzer likes. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned seed)
{
    uint32_t random = seed | 1u;
    size_t event_count = count / EVENT_BYTES;
    if (count == 0 || draw(&random) % 2u == 0) {
        return LLVMFuzzerMutate(bytes, count, most);
    }
    uint8_t *at = bytes + 1u + EVENT_BYTES * (draw(&random) % (event_count + 1u));
    size_t behind = count > (size_t)(at - bytes) ? count - (size_t)(at - bytes) : 0;
    bool whole = behind >= EVENT_BYTES;
    switch (draw(&random) % 6u) {
    case 0:
    case 1: /* one more */
        if (count + EVENT_BYTES > most || (size_t)(at - bytes) > count) {
            break;
        }
        memmove(at + EVENT_BYTES, at, behind);
        put_any_event(at, &random);
        return count + EVENT_BYTES;
    case 2: /* one less */
        if (!whole) {
            break;
        }
        memmove(at, at + EVENT_BYTES, behind - EVENT_BYTES);
        return count - EVENT_BYTES;
    case 3: /* twice */
        if (!whole || count + EVENT_BYTES > most) {
            break;
        }
        memmove(at + EVENT_BYTES, at, behind);
        return count + EVENT_BYTES;
    case 4: /* two change places */
        if (behind >= 2u * EVENT_BYTES) {
            uint8_t first[EVENT_BYTES];
            memcpy(first, at, EVENT_BYTES);
            memmove(at, at + EVENT_BYTES, EVENT_BYTES);
            memcpy(at + EVENT_BYTES, first, EVENT_BYTES);
            return count;
        }
        break;
    default: /* another start, or another argument */
        if (whole && draw(&random) % 8u != 0) {
            at[1u + draw(&random) % 3u] = (uint8_t)draw(&random);
        } else {
            bytes[0] = (uint8_t)(draw(&random) % START_COUNT);
        }
        return count;
    }
    return LLVMFuzzerMutate(bytes, count, most);
}
