#include "commands.h"

#include <stddef.h>

#include "board.h"
#include "crc.h"
#include "interlocks.h"
#include "out_of_line.h"
#include "rom.h"
#include "version.h"

static const uint8_t lengths[WIRE_COMMAND_COUNT + 1u] ROM = {
    [WIRE_COMMAND_IDENTIFY] = WIRE_COMMAND_IDENTIFY_LENGTH,
    [WIRE_COMMAND_STATUS] = WIRE_COMMAND_STATUS_LENGTH,
    [WIRE_COMMAND_HEARTBEAT] = WIRE_COMMAND_HEARTBEAT_LENGTH,
    [WIRE_COMMAND_CONFIGURE] = WIRE_COMMAND_CONFIGURE_LENGTH,
    [WIRE_COMMAND_READ_SETTING] = WIRE_COMMAND_READ_SETTING_LENGTH,
    [WIRE_COMMAND_SAVE_SETTINGS] = WIRE_COMMAND_SAVE_SETTINGS_LENGTH,
    [WIRE_COMMAND_HOME] = WIRE_COMMAND_HOME_LENGTH,
    [WIRE_COMMAND_MOVE] = WIRE_COMMAND_MOVE_LENGTH,
    [WIRE_COMMAND_COCK] = WIRE_COMMAND_COCK_LENGTH,
    [WIRE_COMMAND_LOAD] = WIRE_COMMAND_LOAD_LENGTH,
    [WIRE_COMMAND_LET_DOWN] = WIRE_COMMAND_LET_DOWN_LENGTH,
    [WIRE_COMMAND_ARM] = WIRE_COMMAND_ARM_LENGTH,
    [WIRE_COMMAND_FIRE] = WIRE_COMMAND_FIRE_LENGTH,
    [WIRE_COMMAND_SAFE] = WIRE_COMMAND_SAFE_LENGTH,
    [WIRE_COMMAND_SERVICE] = WIRE_COMMAND_SERVICE_LENGTH,
    [WIRE_COMMAND_READ_HISTORY] = WIRE_COMMAND_READ_HISTORY_LENGTH,
};

static uint16_t payload_u16(const struct receiver_frame *frame, uint8_t at)
{
    return (uint16_t)(frame->payload[at] | ((uint16_t)frame->payload[at + 1u] << 8));
}

static uint32_t payload_u32(const struct receiver_frame *frame)
{
    return payload_u16(frame, 0) | ((uint32_t)payload_u16(frame, 2) << 16);
}

static uint16_t setting(const struct cannon *cannon, uint8_t code) { return settings_value(&cannon->settings, code); }

static OUT_OF_LINE void answer(struct cannon *cannon, uint8_t command)
{
    outbox_answer(&cannon->outbox, (uint8_t)(command + WIRE_ANSWER_OFFSET), cannon->last_id);
}

static void answer_time(struct cannon *cannon, uint8_t command, uint16_t expected_ms)
{
    answer(cannon, command);
    outbox_u16(&cannon->outbox, expected_ms);
}

static void refuse(struct cannon *cannon, uint8_t reason, uint16_t detail)
{
    cannon_note(cannon, WIRE_HISTORY_KIND_REFUSED, reason, cannon->asked, detail);
    outbox_answer(&cannon->outbox, WIRE_REFUSAL_TYPE, cannon->last_id);
    outbox_u8(&cannon->outbox, reason);
    outbox_u16(&cannon->outbox, detail);
}

/* A refusal of a frame that does not count as a command of this session. */
static OUT_OF_LINE void refuse_aside(struct cannon *cannon, const struct receiver_frame *frame, uint8_t reason,
                                     uint8_t detail)
{
    cannon_note(cannon, WIRE_HISTORY_KIND_REFUSED, reason, frame->type, detail);
    outbox_refuse_aside(&cannon->outbox, frame->sequence, reason, detail);
}

/* False, and refused, when the present state does not know the event. */
static bool state_allows(struct cannon *cannon, uint8_t event)
{
    if (state_next(cannon->state, event) != STATE_REFUSED) {
        return true;
    }
    refuse(cannon, WIRE_REFUSAL_WRONG_STATE, cannon->state);
    return false;
}

static void answer_identify(struct cannon *cannon)
{
    struct outbox *outbox = &cannon->outbox;
    answer(cannon, WIRE_COMMAND_IDENTIFY);
    outbox_u8(outbox, WIRE_VERSION);
    outbox_u8(outbox, VERSION_MAJOR);
    outbox_u8(outbox, VERSION_MINOR);
    outbox_u8(outbox, VERSION_PATCH);
    outbox_u8(outbox, board_kind());
    outbox_u8(outbox, cannon->reset_cause);
    outbox_u8(outbox, cannon->settings_source);
    outbox_u16(outbox, settings_crc(&cannon->settings));
    outbox_u32(outbox, cannon->now_us);
}

static void identify(struct cannon *cannon, const struct receiver_frame *frame)
{
    uint16_t session = payload_u16(frame, 1);
    uint16_t crc_start = crc_start_of(session);
    if (cannon->identified && session == cannon->session) {
        if (frame->sequence == cannon->last_id && frame->crc == cannon->last_crc) {
            outbox_repeat_answer(&cannon->outbox);
        }
        return; /* otherwise a late copy: this session has gone on since */
    }
    cannon->identified = true;
    cannon->wire_agreed = frame->payload[0] == WIRE_VERSION;
    cannon->session = session;
    cannon->last_id = frame->sequence;
    cannon->last_crc = frame->crc;
    timers_set(&cannon->timers, TIMER_HEARD, WIRE_HEARTBEAT_TIMEOUT_MS);
    cannon->token_seed ^= cannon->now_us ^ ((uint32_t)session << 16);
    receiver_begin_session(&cannon->receiver, crc_start);
    outbox_begin_session(&cannon->outbox, crc_start);
    cannon_happen(cannon, STATE_EVENT_NEW_SESSION);
    cannon->fired_ahead = false; /* that may just have been set: the fire was of the session before, nobody asks for it now */
    answer_identify(cannon);
}

static OUT_OF_LINE void status(struct cannon *cannon)
{
    struct outbox *outbox = &cannon->outbox;
    answer(cannon, WIRE_COMMAND_STATUS);
    outbox_u8(outbox, cannon->state);
    outbox_u8(outbox, cannon->cause);
    outbox_u8(outbox, cannon->inputs.levels);
    outbox_u8(outbox, (uint8_t)(axes_moving(&cannon->axes) | (cannon->loading ? 1u << WIRE_AXIS_COUNT : 0u)));
    outbox_u16(outbox, cannon->faults);
    outbox_u32(outbox, cannon->now_us);
    outbox_u32(outbox, cannon->held_ms);
    outbox_u16(outbox, cannon->state == WIRE_STATE_ARMED ? cannon->timers.left_ms[TIMER_ARMED] : 0);
    outbox_u16(outbox, cannon->shots);
}

static void heartbeat(struct cannon *cannon, const struct receiver_frame *frame)
{
    outbox_acknowledge(&cannon->outbox, frame->payload[0]);
    answer(cannon, WIRE_COMMAND_HEARTBEAT);
    outbox_u8(&cannon->outbox, cannon->state);
    outbox_u8(&cannon->outbox, cannon->inputs.levels);
    outbox_u32(&cannon->outbox, cannon->now_us);
}

/* Settings steer the lever's servos, so they stay as they are while the lever is anything but forward and alone. */
static bool settings_free(struct cannon *cannon)
{
    const struct axis *draw = &cannon->axes.axis[WIRE_AXIS_DRAW];
    if (!state_allows(cannon, STATE_EVENT_CONFIGURE)) {
        return false;
    }
    if (cannon->store.writing) {
        refuse(cannon, WIRE_REFUSAL_BUSY, 0);
        return false;
    }
    if (lever_held(cannon->inputs.levels)) {
        refuse(cannon, WIRE_REFUSAL_LEVER_DRAWN, 0);
        return false;
    }
    if (draw->powered && draw->position_ticks != setting(cannon, WIRE_SETTING_DRAW_REST_TICKS)) {
        refuse(cannon, WIRE_REFUSAL_AXIS_MOVING, WIRE_AXIS_DRAW);
        return false;
    }
    return true;
}

static void configure(struct cannon *cannon, const struct receiver_frame *frame)
{
    uint8_t code = frame->payload[0];
    uint16_t value = payload_u16(frame, 1);
    if (!settings_free(cannon)) {
        return;
    }
    if (!settings_allows(code, value)) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, code);
        return;
    }
    cannon->settings.values[code] = value;
    /* An axis that is not where the new settings want it gets no pulses until it is homed: nothing moves in safe. */
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        struct axis *axis = &cannon->axes.axis[i];
        struct axis_range range = axes_range(&cannon->settings, i);
        if (i == WIRE_AXIS_DRAW) {
            range.low_ticks = range.high_ticks = setting(cannon, WIRE_SETTING_DRAW_REST_TICKS);
        }
        if (axis->position_ticks < range.low_ticks || axis->position_ticks > range.high_ticks) {
            axis->powered = false;
            axes_hold(&cannon->axes, i);
        }
    }
    answer(cannon, WIRE_COMMAND_CONFIGURE);
    outbox_u8(&cannon->outbox, code);
    outbox_u16(&cannon->outbox, value);
}

static void read_setting(struct cannon *cannon, const struct receiver_frame *frame)
{
    uint8_t code = frame->payload[0];
    if (code >= WIRE_SETTING_COUNT) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, code);
        return;
    }
    answer(cannon, WIRE_COMMAND_READ_SETTING);
    outbox_u8(&cannon->outbox, code);
    outbox_u16(&cannon->outbox, setting(cannon, code));
}

static void read_history(struct cannon *cannon, const struct receiver_frame *frame)
{
    struct history *history = board_history();
    const uint8_t *told = history_find(history, payload_u16(frame, 0));
    answer(cannon, WIRE_COMMAND_READ_HISTORY);
    outbox_u16(&cannon->outbox, history->newest);
    for (uint8_t i = 0; i < HISTORY_TOLD_BYTES; i++) {
        outbox_u8(&cannon->outbox, told == NULL ? 0 : told[i]);
    }
}

static void save_settings(struct cannon *cannon)
{
    if (!settings_free(cannon)) {
        return;
    }
    uint8_t contradiction = settings_contradiction(&cannon->settings);
    if (contradiction != SETTINGS_CONSISTENT) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, contradiction);
        return;
    }
    store_save(&cannon->store);
    answer(cannon, WIRE_COMMAND_SAVE_SETTINGS);
    outbox_u16(&cannon->outbox, settings_crc(&cannon->settings));
}

static void home(struct cannon *cannon)
{
    if (!state_allows(cannon, STATE_EVENT_HOME)) {
        return;
    }
    uint8_t reason = interlocks_leave_safe(cannon->inputs.levels & cannon->levels, cannon->key_cycle_needed);
    if (reason == INTERLOCKS_PASSED && lever_held(cannon->inputs.levels)) {
        reason = WIRE_REFUSAL_LEVER_DRAWN;
    }
    if (reason != INTERLOCKS_PASSED) {
        refuse(cannon, reason, 0);
        return;
    }
    uint8_t contradiction = settings_contradiction(&cannon->settings);
    if (contradiction != SETTINGS_CONSISTENT) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, contradiction);
        return;
    }
    cannon_happen(cannon, STATE_EVENT_HOME);
    answer_time(cannon, WIRE_COMMAND_HOME, cannon_homing_time_ms(cannon));
}

static void move(struct cannon *cannon, const struct receiver_frame *frame)
{
    uint8_t axis = frame->payload[0];
    uint16_t pulse_ticks = payload_u16(frame, 1);
    if (!state_allows(cannon, STATE_EVENT_MOVE)) {
        return;
    }
    if (axis >= WIRE_AXIS_COUNT) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, axis);
        return;
    }
    if (axis == WIRE_AXIS_DRAW || axis == WIRE_AXIS_LATCH) {
        refuse(cannon, WIRE_REFUSAL_AXIS_RESERVED, axis);
        return;
    }
    struct axis_range range = axes_range(&cannon->settings, axis);
    if (pulse_ticks < range.low_ticks || pulse_ticks > range.high_ticks) {
        refuse(cannon, WIRE_REFUSAL_BAD_VALUE, axis);
        return;
    }
    axes_go(&cannon->axes, &cannon->settings, axis, pulse_ticks);
    cannon->announce = (uint8_t)(cannon->announce | 1u << axis);
    answer_time(cannon, WIRE_COMMAND_MOVE,
                axes_time_ms(&cannon->axes, &cannon->settings, axis, pulse_ticks));
}

static void draw_lever(struct cannon *cannon, uint8_t command, uint8_t event, uint8_t task)
{
    if (!state_allows(cannon, event)) {
        return;
    }
    if (lever_held(cannon->inputs.levels)) {
        refuse(cannon, WIRE_REFUSAL_LEVER_DRAWN, 0);
        return;
    }
    uint16_t expected_ms = lever_time_ms(task, &cannon->axes, &cannon->settings);
    cannon_happen(cannon, event);
    answer_time(cannon, command, expected_ms);
}

static void let_down(struct cannon *cannon)
{
    if (!state_allows(cannon, STATE_EVENT_LET_DOWN)) {
        return;
    }
    if (!(cannon->inputs.levels & WIRE_INPUT_ESTOP_OK_MASK)) {
        refuse(cannon, WIRE_REFUSAL_EMERGENCY_STOP, 0);
        return;
    }
    if (!lever_held(cannon->inputs.levels) && cannon->state == WIRE_STATE_SAFE) {
        refuse(cannon, WIRE_REFUSAL_NOT_LATCHED, 0);
        return;
    }
    uint16_t expected_ms = lever_time_ms(LEVER_LET_DOWN, &cannon->axes, &cannon->settings);
    cannon_happen(cannon, STATE_EVENT_LET_DOWN);
    answer_time(cannon, WIRE_COMMAND_LET_DOWN, expected_ms);
}

static void load(struct cannon *cannon)
{
    uint8_t reason = INTERLOCKS_PASSED;
    if (!state_allows(cannon, STATE_EVENT_LOAD)) {
        return;
    }
    if (!setting(cannon, WIRE_SETTING_LOADER_PRESENT)) {
        reason = WIRE_REFUSAL_NO_LOADER;
    } else if (cannon->inputs.levels & WIRE_INPUT_GATE_FIRST_BLOCKED_MASK) {
        reason = WIRE_REFUSAL_ALREADY_LOADED;
    } else if (cannon->inputs.levels & WIRE_INPUT_GATE_SECOND_BLOCKED_MASK) {
        reason = WIRE_REFUSAL_MUZZLE_BLOCKED;
    } else if (cannon->loading) {
        reason = WIRE_REFUSAL_LOADING;
    }
    if (reason != INTERLOCKS_PASSED) {
        refuse(cannon, reason, 0);
        return;
    }
    uint16_t hold_ms = setting(cannon, WIRE_SETTING_LOADER_HOLD_MS);
    cannon->loading = true;
    cannon->outputs.loader = true;
    timers_set(&cannon->timers, TIMER_LOADER, hold_ms);
    answer_time(cannon, WIRE_COMMAND_LOAD, hold_ms);
}

/* A shift register with feedback (x^32 + x^30 + x^26 + x^25 + 1): every number but zero once before any comes again.
 * `identify` puts it somewhere else, so a token comes twice only by a chance of about 2^-32 each. */
static uint32_t next_token(struct cannon *cannon)
{
    uint32_t token = cannon->token_seed == 0 ? 1u : cannon->token_seed;
    bool out = token & 1u;
    token >>= 1;
    if (out) {
        token ^= 0xA3000000u;
    }
    cannon->token_seed = token;
    return token;
}

static OUT_OF_LINE bool token_right(const struct cannon *cannon, const struct receiver_frame *frame)
{
    return payload_u32(frame) == cannon->token;
}

static void arm(struct cannon *cannon)
{
    if (!state_allows(cannon, STATE_EVENT_ARM)) {
        return;
    }
    uint8_t reason = interlocks_leave_safe(cannon->inputs.levels, cannon->key_cycle_needed);
    if (reason == INTERLOCKS_PASSED) {
        reason = interlocks_fire(cannon->inputs.levels);
    }
    if (reason == INTERLOCKS_PASSED && cannon->loading) {
        reason = WIRE_REFUSAL_LOADING;
    }
    if (reason == INTERLOCKS_PASSED && axes_moving(&cannon->axes) != 0) {
        reason = WIRE_REFUSAL_AXIS_MOVING;
    }
    if (reason != INTERLOCKS_PASSED) {
        refuse(cannon, reason, 0);
        return;
    }
    cannon->token = next_token(cannon);
    cannon_happen(cannon, STATE_EVENT_ARM);
    answer(cannon, WIRE_COMMAND_ARM);
    outbox_u32(&cannon->outbox, cannon->token);
    outbox_u16(&cannon->outbox, setting(cannon, WIRE_SETTING_ARM_EXPIRES_MS));
}

static void answer_fire(struct cannon *cannon)
{
    cannon->fired_ahead = false;
    answer(cannon, WIRE_COMMAND_FIRE);
    outbox_u32(&cannon->outbox, cannon->released_us);
}

static void fire(struct cannon *cannon, const struct receiver_frame *frame)
{
    if (!state_allows(cannon, STATE_EVENT_FIRE)) {
        return;
    }
    if (!token_right(cannon, frame)) {
        cannon_happen(cannon, STATE_EVENT_BAD_TOKEN);
        refuse(cannon, WIRE_REFUSAL_BAD_TOKEN, 0);
        return;
    }
    uint8_t reason = interlocks_fire(cannon->levels);
    bool solenoid = setting(cannon, WIRE_SETTING_TRIGGER_KIND) == 0;
    if (reason == INTERLOCKS_PASSED && !guard_release(&cannon->guard, &cannon->receiver, solenoid)) {
        reason = cannon->receiver.stopped ? WIRE_REFUSAL_OVERTAKEN : WIRE_REFUSAL_INPUT_CHANGED;
    }
    if (reason != INTERLOCKS_PASSED) {
        refuse(cannon, reason, 0);
        return;
    }
    cannon->released_us = cannon->now_us;
    cannon_happen(cannon, STATE_EVENT_FIRE);
    answer_fire(cannon);
}

/* What may still be done after a stop that came later than the command. */
static bool harmless(uint8_t command)
{
    return command == WIRE_COMMAND_STATUS || command == WIRE_COMMAND_HEARTBEAT ||
           command == WIRE_COMMAND_READ_SETTING || command == WIRE_COMMAND_READ_HISTORY || command == WIRE_COMMAND_SAFE;
}

static void execute(struct cannon *cannon, const struct receiver_frame *frame)
{
    if (cannon->fired_ahead && frame->type == WIRE_COMMAND_FIRE && token_right(cannon, frame)) {
        answer_fire(cannon); /* done already, whatever came after it */
        return;
    }
    if (frame->overtaken && !harmless(frame->type)) {
        refuse(cannon, WIRE_REFUSAL_OVERTAKEN, 0);
        return;
    }
    switch (frame->type) {
    case WIRE_COMMAND_STATUS:
        status(cannon);
        break;
    case WIRE_COMMAND_HEARTBEAT:
        heartbeat(cannon, frame);
        break;
    case WIRE_COMMAND_CONFIGURE:
        configure(cannon, frame);
        break;
    case WIRE_COMMAND_READ_SETTING:
        read_setting(cannon, frame);
        break;
    case WIRE_COMMAND_READ_HISTORY:
        read_history(cannon, frame);
        break;
    case WIRE_COMMAND_SAVE_SETTINGS:
        save_settings(cannon);
        break;
    case WIRE_COMMAND_HOME:
        home(cannon);
        break;
    case WIRE_COMMAND_MOVE:
        move(cannon, frame);
        break;
    case WIRE_COMMAND_COCK:
        draw_lever(cannon, WIRE_COMMAND_COCK, STATE_EVENT_COCK, LEVER_COCK);
        break;
    case WIRE_COMMAND_SERVICE:
        draw_lever(cannon, WIRE_COMMAND_SERVICE, STATE_EVENT_SERVICE, LEVER_SERVICE);
        break;
    case WIRE_COMMAND_LOAD:
        load(cannon);
        break;
    case WIRE_COMMAND_LET_DOWN:
        let_down(cannon);
        break;
    case WIRE_COMMAND_ARM:
        arm(cannon);
        break;
    case WIRE_COMMAND_FIRE:
        fire(cannon, frame);
        break;
    case WIRE_COMMAND_SAFE:
        cannon_happen(cannon, STATE_EVENT_MAKE_SAFE);
        answer(cannon, WIRE_COMMAND_SAFE);
        outbox_u8(&cannon->outbox, cannon->state);
        break;
    default:
        break;
    }
}

void commands_take(struct cannon *cannon, const struct receiver_frame *frame)
{
    uint8_t next_id = (uint8_t)(cannon->last_id + 1u);
    bool known = frame->type >= WIRE_COMMAND_IDENTIFY && frame->type <= WIRE_COMMAND_COUNT;
    bool right_length = known && frame->length == rom_u8(&lengths[frame->type]);
    if (frame->type == WIRE_COMMAND_IDENTIFY) {
        if (right_length) {
            identify(cannon, frame);
        } else {
            refuse_aside(cannon, frame, WIRE_REFUSAL_BAD_LENGTH, frame->length);
        }
        return;
    }
    if (!cannon->identified) {
        refuse_aside(cannon, frame, WIRE_REFUSAL_NOT_IDENTIFIED, 0);
        return;
    }
    if (frame->sequence == cannon->last_id && frame->crc == cannon->last_crc) {
        outbox_repeat_answer(&cannon->outbox);
        return;
    }
    if (frame->sequence != next_id) {
        refuse_aside(cannon, frame, WIRE_REFUSAL_OUT_OF_SEQUENCE, next_id);
        return;
    }
    cannon->last_id = frame->sequence;
    cannon->last_crc = frame->crc;
    cannon->asked = frame->type;
    timers_set(&cannon->timers, TIMER_HEARD, WIRE_HEARTBEAT_TIMEOUT_MS);
    /* The fuse is out while a command is executed: a fire behind it must find the state that this one leaves. */
    cannon_account_for_interrupt(cannon);
    if (!cannon->wire_agreed) {
        refuse(cannon, WIRE_REFUSAL_WIRE_VERSION, WIRE_VERSION);
    } else if (!known) {
        refuse(cannon, WIRE_REFUSAL_UNKNOWN_COMMAND, frame->type);
    } else if (!right_length) {
        refuse(cannon, WIRE_REFUSAL_BAD_LENGTH, frame->length);
    } else {
        execute(cannon, frame);
    }
    if (cannon->state == WIRE_STATE_ARMED && setting(cannon, WIRE_SETTING_TRIGGER_KIND) == 0) {
        guard_light_fuse(&cannon->guard, &cannon->receiver, (uint8_t)(cannon->last_id + 1u));
    }
}
