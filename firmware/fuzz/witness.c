#include "witness.h"

#include <stdlib.h>
#include <string.h>

#include "target.h"

#define MS_US 1000u
/* A deadline counts from a step of the main loop, in whole milliseconds and one more; the next step acts on it. */
#define SPARE_US (2u * MS_US)
#define PERIOD_US 20000u
#define TRIGGER_LONGEST_US (7u * PERIOD_US)
#define LOADER_LONGEST_US (52u * PERIOD_US)
#define KEY_OFF_US (49u * MS_US)
#define SWITCHES_TOLD_US (100 * (int64_t)MS_US)
#define PERMISSIONS (WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK)
#define LEVER (WIRE_INPUT_LEVER_DRAWN_MASK | WIRE_INPUT_LEVER_LATCHED_MASK)
#define AIMING 3u
#define EVENTS_NEAR 64u /* numbers further apart are not compared: they count modulo 256 */
#define EEPROM_HALF (WITNESS_EEPROM_BYTES / 2u)
#define BROKEN_IF(condition, promise, what)                                                                            \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            target_broken(promise, what);                                                                              \
        }                                                                                                              \
    } while (0)

/* Which refusals came in which state: the fuzzer keeps inputs that reach something new here too. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t
    refusals[WIRE_STATE_COUNT][WIRE_REFUSAL_COUNT + 1u];

const char *witness_state_name(uint8_t state)
{
    static const char *const names[WIRE_STATE_COUNT] = {"safe",  "homing", "ready",        "cocking", "cocked",
                                                        "armed", "firing", "letting down", "service"};
    return state < WIRE_STATE_COUNT ? names[state] : "no state";
}

const char *witness_cause_name(uint8_t cause)
{
    static const char *const names[WIRE_CAUSE_COUNT] = {
        "reset",         "command",     "stop byte", "done",      "emergency stop", "key off",
        "lane",          "silence",     "arming expired", "dwell over", "bad token", "shot seen",
        "shot not seen", "timed out",   "latch lost", "load lost", "hold expired",
    };
    return cause < WIRE_CAUSE_COUNT ? names[cause] : "no cause";
}

/* -- what is asked again and again --------------------------------------------------------------------------------- */

static bool at_work(uint8_t state) { return state != WIRE_STATE_SAFE && state != WIRE_STATE_LETTING_DOWN; }

/* Nothing is under way that has an end of its own. */
static bool idle(uint8_t state)
{
    return state == WIRE_STATE_SAFE || state == WIRE_STATE_READY || state == WIRE_STATE_COCKED ||
           state == WIRE_STATE_ARMED || state == WIRE_STATE_SERVICE;
}

static bool pins_right(uint8_t levels)
{
    const uint8_t needed = PERMISSIONS | WIRE_INPUT_LEVER_LATCHED_MASK | WIRE_INPUT_GATE_FIRST_BLOCKED_MASK;
    return (levels & needed) == needed && !(levels & WIRE_INPUT_GATE_SECOND_BLOCKED_MASK);
}

static bool over(const struct witness *witness, uint64_t since_us, uint32_t ms)
{
    return !witness->catching_up && witness->clock_us - since_us >= (uint64_t)ms * MS_US + SPARE_US;
}

static uint16_t apart(uint16_t one, uint16_t other) { return one > other ? one - other : other - one; }

static bool latch_is_trigger(const struct witness *witness)
{
    return witness->settings[WIRE_SETTING_TRIGGER_KIND] == 1;
}

static struct host_view look(const struct host *host)
{
    struct host_view view;
    host_view(host, &view);
    return view;
}

/* -- S-1, S-2: shots ----------------------------------------------------------------------------------------------- */

static bool fire_came(const struct witness *witness, uint32_t token)
{
    for (unsigned i = 0; i < WITNESS_FIRES && i < witness->fire_count; i++) {
        if (witness->fires[i].token == token) {
            return true;
        }
    }
    return false;
}

static void note_shot(struct witness *witness, uint32_t token)
{
    BROKEN_IF(token == 0 || !fire_came(witness, token), "S-1", "a shot without a fire frame of this arming");
    BROKEN_IF(token == witness->shot_token, "S-1", "a second shot by one arming");
    witness->shot_token = token;
    target_say("  a shot");
}

static void check_pull(const struct witness *witness)
{
    BROKEN_IF(latch_is_trigger(witness), "S-1", "the solenoid is pulled though the latch servo is the trigger");
    BROKEN_IF(!pins_right(witness->pins), "S-2", "a shot with an interlock missing");
    BROKEN_IF(witness->stopped || witness->lost, "S-3", "a shot after a stop that the main loop has not seen");
}

static void take_pull_by_interrupt(struct witness *witness, const struct line_frame *frame, const struct host_view *was)
{
    BROKEN_IF(frame == NULL || frame->type != WIRE_COMMAND_FIRE || frame->length != WIRE_COMMAND_FIRE_LENGTH, "S-1",
              "a byte fires that ends no fire frame");
    BROKEN_IF(frame->sequence != (uint8_t)(was->last_id + 1u), "S-1", "a fire frame fires out of its turn");
    uint32_t token = 0;
    for (unsigned i = WIRE_COMMAND_FIRE_LENGTH; i-- > 0;) {
        token = token << 8 | frame->payload[i];
    }
    BROKEN_IF(token != was->token, "S-1", "a fire frame fires with a token that is not this arming's");
    BROKEN_IF(was->state != WIRE_STATE_ARMED, "S-1", "a shot from a state that is not armed");
    check_pull(witness);
    note_shot(witness, token);
    witness->shot_by_interrupt = true;
    witness->pulled_us = witness->clock_us;
}

static void check_arming(struct witness *witness, const struct host_view *now)
{
    const struct host_view *was = &witness->seen;
    if (now->session != was->session) {
        witness->token_count = 0;
    }
    if (now->token != was->token && now->token != 0) {
        for (unsigned i = 0; i < witness->token_count; i++) {
            BROKEN_IF(witness->tokens[i] == now->token, "S-1", "a token comes a second time in a session");
        }
        if (witness->token_count < WITNESS_TOKENS) {
            witness->tokens[witness->token_count++] = now->token;
        }
    }
    if (now->state != WIRE_STATE_ARMED) {
        return;
    }
    BROKEN_IF(now->token == 0, "S-1", "armed with no token");
    if (was->state != WIRE_STATE_ARMED) {
        BROKEN_IF(!pins_right(now->inputs), "S-2", "armed with an interlock missing");
    } else if (now->token == was->token) {
        BROKEN_IF(memcmp(now->pulse_ticks, was->pulse_ticks, sizeof now->pulse_ticks) != 0, "S-2",
                  "armed while something moves");
        BROKEN_IF(over(witness, witness->entered_us, witness->settings[WIRE_SETTING_ARM_EXPIRES_MS]), "S-10",
                  "armed for longer than allowed");
    }
}

/* The trigger is pulled in the moment in which the main loop decides on it. */
static void take_pull_by_loop(struct witness *witness)
{
    check_pull(witness);
    witness->shot_by_loop = true;
    witness->pulled_us = witness->clock_us;
}

static void check_shots(struct witness *witness, const struct host_view *now)
{
    const struct host_view *was = &witness->seen;
    bool began = now->state == WIRE_STATE_FIRING && was->state != WIRE_STATE_FIRING;
    if (witness->shot_by_loop) {
        BROKEN_IF(!began || witness->found_shot, "S-1", "a shot from a state that is not armed");
        BROKEN_IF(witness->found_stopped, "S-3", "a shot after a stop");
    }
    if (began) {
        BROKEN_IF(was->state != WIRE_STATE_ARMED && now->token == was->token, "S-1",
                  "a shot from a state that is not armed");
        if (!witness->found_shot) {
            note_shot(witness, now->token);
            BROKEN_IF(now->inputs & LEVER &&
                          over(witness, witness->held_us, witness->settings[WIRE_SETTING_DWELL_MS]),
                      "S-8", "a shot after the dwell");
        }
    }
    uint32_t unknown = witness->shot_by_interrupt ? 1u : 0;
    BROKEN_IF(now->pulls - witness->pulls_at_reset > now->shots + unknown, "S-1",
              "a shot that the core does not count");
    BROKEN_IF(now->trigger && now->state != WIRE_STATE_FIRING && !unknown, "S-1",
              "the trigger is on and the core is not firing");
}

/* -- S-3, S-4, S-11, S-13: what makes safe ------------------------------------------------------------------------- */

/* The dwell is over, or so nearly that the core may count it so. */
static bool dwell_may_be_over(const struct witness *witness, const struct host_view *now)
{
    uint64_t dwell_us = (uint64_t)witness->settings[WIRE_SETTING_DWELL_MS] * MS_US;
    return now->inputs & LEVER && witness->clock_us - witness->held_us + SPARE_US >= dwell_us;
}

static void check_stops(const struct witness *witness, const struct host_view *now)
{
    uint8_t gone = witness->found_lost & witness->seen.inputs;
    bool safe = now->state == WIRE_STATE_SAFE;
    bool letting_down = now->state == WIRE_STATE_LETTING_DOWN;
    bool goes_on = letting_down && dwell_may_be_over(witness, now);
    bool made_safe = safe || (letting_down && now->cause == WIRE_CAUSE_DWELL_EXPIRED);
    BROKEN_IF(gone & WIRE_INPUT_ESTOP_OK_MASK && !made_safe, "S-3", "not safe after an emergency stop");
    BROKEN_IF(gone & WIRE_INPUT_KEY_ON_MASK && !safe && !letting_down, "S-3", "not safe after the key was turned off");
    BROKEN_IF(gone & WIRE_INPUT_LANE_CLEAR_MASK &&
                  (now->state == WIRE_STATE_ARMED || now->state == WIRE_STATE_FIRING),
              "S-3", "armed with the lane not clear");
    BROKEN_IF(witness->found_reign && !made_safe && !goes_on, "S-13", "not safe after a stop byte");
    BROKEN_IF(now->trigger && (witness->stopped || witness->lost), "S-3", "the trigger is on after a stop");
}

static void check_silence(struct witness *witness, const struct host_view *now)
{
    if (now->last_id != witness->seen.last_id || now->session != witness->seen.session) {
        witness->heard_us = witness->clock_us;
    }
    BROKEN_IF(at_work(now->state) && over(witness, witness->heard_us, WIRE_HEARTBEAT_TIMEOUT_MS), "S-4",
              "at work though the controller is silent");
}

static void check_safe(const struct witness *witness, const struct host_view *now)
{
    const struct host_view *was = &witness->seen;
    if (now->state != WIRE_STATE_SAFE) {
        return;
    }
    BROKEN_IF(now->trigger || now->loader || now->armed_lamp, "S-4", "an output on in safe");
    for (unsigned axis = 0; axis < WIRE_AXIS_COUNT; axis++) {
        uint16_t pulse = now->pulse_ticks[axis], before = was->pulse_ticks[axis];
        BROKEN_IF(axis < AIMING && pulse != 0 && before != 0 && pulse != before, "S-4", "an aiming axis moves in safe");
        BROKEN_IF(pulse != 0 && before == 0 && was->state == WIRE_STATE_SAFE && now->last_id == was->last_id &&
                      !(axis == WIRE_AXIS_DRAW && witness->draw_may_begin),
                  "S-5", "pulses begin in safe without a command");
    }
}

static void watch_turn(struct witness *witness, const struct host_view *now)
{
    if (witness->found_lost & WIRE_INPUT_ESTOP_OK_MASK) {
        witness->turn_needed = true;
    }
    if (!(witness->pins & WIRE_INPUT_KEY_ON_MASK)) {
        return;
    }
    bool believed = now->inputs & WIRE_INPUT_KEY_ON_MASK;
    bool was_off = witness->clock_us - witness->key_on_us >= KEY_OFF_US;
    if (believed && was_off && now->inputs & WIRE_INPUT_ESTOP_OK_MASK) {
        witness->turn_needed = false;
    }
    if (believed || !was_off) {
        witness->key_on_us = witness->clock_us;
    }
}

static void check_leaving_safe(const struct witness *witness, const struct host_view *now)
{
    const uint8_t needed = WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK;
    if (at_work(witness->seen.state) || !at_work(now->state)) {
        return;
    }
    BROKEN_IF(witness->turn_needed, "S-11", "left safe after an emergency stop without the key being turned");
    BROKEN_IF((now->inputs & needed) != needed, "S-11", "left safe without key or with the stop pressed");
}

/* -- S-6 to S-9: outputs, limits, dwell, lever --------------------------------------------------------------------- */

static void check_longest_holds(const struct witness *witness, const struct host_view *now, uint32_t spare_us)
{
    BROKEN_IF(now->trigger && witness->clock_us - witness->pulled_us > TRIGGER_LONGEST_US + spare_us, "S-6",
              "the trigger is on for longer than any hold");
    BROKEN_IF(now->loader && witness->clock_us - witness->loader_us > LOADER_LONGEST_US + spare_us, "S-6",
              "the loader is on for longer than any hold");
}

static void check_holds(struct witness *witness, const struct host_view *now)
{
    if (now->loader && !witness->seen.loader) {
        witness->loader_us = witness->clock_us;
        BROKEN_IF(now->state != WIRE_STATE_COCKED, "S-6", "the loader comes on and nothing is cocked");
    }
    if (now->loader && over(witness, witness->loader_us, witness->settings[WIRE_SETTING_LOADER_HOLD_MS])) {
        target_broken("S-6", "the loader is on for longer than its hold");
    }
    if (now->state == WIRE_STATE_FIRING && witness->seen.state == WIRE_STATE_FIRING && now->trigger &&
        over(witness, witness->entered_us, witness->settings[WIRE_SETTING_TRIGGER_HOLD_MS])) {
        target_broken("S-6", "the trigger is on for longer than its hold");
    }
}

static void widen(uint16_t ticks, uint16_t *low, uint16_t *high)
{
    *low = ticks < *low ? ticks : *low;
    *high = ticks > *high ? ticks : *high;
}

static void check_limits(const struct witness *witness, const struct host_view *now)
{
    static const uint8_t speeds[WIRE_AXIS_COUNT] = {
        WIRE_SETTING_TRAVERSE_SPEED_TICKS, WIRE_SETTING_AZIMUTH_SPEED_TICKS, WIRE_SETTING_ELEVATION_SPEED_TICKS,
        WIRE_SETTING_DRAW_SPEED_TICKS,     WIRE_SETTING_LATCH_SPEED_TICKS,
    };
    const uint16_t *values = witness->settings;
    for (unsigned axis = 0; axis < WIRE_AXIS_COUNT; axis++) {
        uint16_t pulse = now->pulse_ticks[axis], before = witness->seen.pulse_ticks[axis];
        uint16_t low, high, speed = values[speeds[axis]];
        if (pulse == 0) {
            continue;
        }
        if (axis < AIMING) {
            low = values[4u * axis];
            high = values[4u * axis + 1u];
        } else if (axis == WIRE_AXIS_DRAW) {
            low = high = values[WIRE_SETTING_DRAW_REST_TICKS];
            widen(values[WIRE_SETTING_DRAW_BREECH_TICKS], &low, &high);
            speed = speed > values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS] ? speed
                                                                       : values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS];
        } else {
            low = high = values[WIRE_SETTING_LATCH_FREE_TICKS];
            widen(values[WIRE_SETTING_LATCH_HELD_TICKS], &low, &high);
            widen(values[WIRE_SETTING_LATCH_LUBRICATE_TICKS], &low, &high);
        }
        BROKEN_IF(pulse < low || pulse > high, "S-7", "an axis leaves its limits");
        BROKEN_IF(before != 0 && apart(pulse, before) > speed, "S-7", "an axis is faster than its speed");
    }
}

static void check_dwell(struct witness *witness, const struct host_view *now)
{
    const struct host_view *was = &witness->seen;
    bool broke_off = was->state == WIRE_STATE_LETTING_DOWN && now->state == WIRE_STATE_SAFE &&
                     (now->cause == WIRE_CAUSE_EMERGENCY_STOP || now->cause == WIRE_CAUSE_TIMED_OUT);
    if (broke_off || (now->inputs & LEVER && !(was->inputs & LEVER))) {
        witness->held_us = witness->clock_us;
    }
    if (!(now->inputs & LEVER) || !(was->inputs & LEVER) || broke_off) {
        return;
    }
    BROKEN_IF(idle(was->state) && idle(now->state) && now->last_id == was->last_id &&
                  over(witness, witness->held_us, witness->settings[WIRE_SETTING_DWELL_MS]),
              "S-8", "cocked for longer than the dwell");
}

/* Over a reset the dwell goes on from where the core had counted it, but for the moment in which the switches tell where the
 * lever is; and the settings may be those before again. */
static void keep_dwell(struct witness *witness, uint64_t dwell_before_us)
{
    int64_t left_us = (int64_t)(witness->held_us + dwell_before_us + MS_US - witness->counted_us);
    int64_t dwell_us = (int64_t)witness->settings[WIRE_SETTING_DWELL_MS] * MS_US;
    left_us = left_us < SWITCHES_TOLD_US ? SWITCHES_TOLD_US : left_us;
    left_us = left_us > dwell_us ? dwell_us : left_us;
    witness->held_us = witness->clock_us + (uint64_t)(left_us - dwell_us);
}

static uint32_t travel_ms(uint16_t from, uint16_t to, uint16_t speed) { return (apart(from, to) / speed + 1u) * 20u; }

/* The time limit of a let-down: that of the settings, or what it takes by their speeds if that is more. */
static uint32_t let_down_ms(const uint16_t *values)
{
    uint16_t rest = values[WIRE_SETTING_DRAW_REST_TICKS], breech = values[WIRE_SETTING_DRAW_BREECH_TICKS];
    uint16_t free = values[WIRE_SETTING_LATCH_FREE_TICKS], held = values[WIRE_SETTING_LATCH_HELD_TICKS];
    uint16_t lubricate = values[WIRE_SETTING_LATCH_LUBRICATE_TICKS];
    uint16_t turn = apart(free, held) > apart(free, lubricate) ? held : lubricate;
    uint32_t needed_ms = 2000u + travel_ms(rest, breech, values[WIRE_SETTING_DRAW_SPEED_TICKS]) +
                         travel_ms(turn, free, values[WIRE_SETTING_LATCH_SPEED_TICKS]) +
                         travel_ms(breech, rest, values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS]);
    uint32_t limit_ms = values[WIRE_SETTING_LET_DOWN_TIMEOUT_MS];
    return limit_ms > needed_ms ? limit_ms : needed_ms;
}

/* What a step may take at most: homing has no such end while an axis that is slow is on its way. */
static void check_work(const struct witness *witness, const struct host_view *now)
{
    const uint16_t *values = witness->settings;
    uint32_t longest_ms;
    switch (now->state) {
    case WIRE_STATE_COCKING:
        longest_ms = values[WIRE_SETTING_COCK_TIMEOUT_MS];
        break;
    case WIRE_STATE_LETTING_DOWN:
        longest_ms = let_down_ms(values);
        break;
    case WIRE_STATE_FIRING:
        longest_ms = (uint32_t)values[WIRE_SETTING_SHOT_TIMEOUT_MS] + values[WIRE_SETTING_TRIGGER_HOLD_MS];
        break;
    default:
        return;
    }
    BROKEN_IF(over(witness, witness->entered_us, longest_ms), "S-8", "a state with an end of its own does not end");
}

static void check_lever(const struct witness *witness, const struct host_view *now)
{
    const uint16_t *values = witness->settings;
    uint16_t rest = values[WIRE_SETTING_DRAW_REST_TICKS], held = values[WIRE_SETTING_LATCH_HELD_TICKS];
    uint16_t draw = now->pulse_ticks[WIRE_AXIS_DRAW], draw_was = witness->seen.pulse_ticks[WIRE_AXIS_DRAW];
    uint16_t latch = now->pulse_ticks[WIRE_AXIS_LATCH], latch_was = witness->seen.pulse_ticks[WIRE_AXIS_LATCH];
    bool latched = now->inputs & WIRE_INPUT_LEVER_LATCHED_MASK;
    if (draw != 0 && draw_was != 0 && apart(draw, rest) < apart(draw_was, rest)) {
        BROKEN_IF(apart(draw, draw_was) > values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS] && !latched, "S-9",
                  "the draw goes forward faster than eased, and the latch does not have the lever");
    }
    if (latch != 0 && latch_was != 0 && apart(latch, held) > apart(latch_was, held)) {
        BROKEN_IF(latched && draw != values[WIRE_SETTING_DRAW_BREECH_TICKS] && now->state != WIRE_STATE_FIRING, "S-9",
                  "the latch lets go of a lever that the draw does not have");
    }
}

/* -- S-12: settings ------------------------------------------------------------------------------------------------ */

static void read_settings(struct witness *witness, const struct host *host)
{
    static const struct {
        uint16_t factory, least, most;
    } limits[WIRE_SETTING_COUNT] = {WIRE_SETTINGS_TABLE};
    for (uint8_t i = 0; i < WIRE_SETTING_COUNT; i++) {
        uint16_t value = witness->settings[i] = host_setting(host, i);
        BROKEN_IF(value < limits[i].least || value > limits[i].most, "S-7",
                  "a setting is outside the limits compiled in");
    }
}

static void check_settings(struct witness *witness, const struct host *host, const struct host_view *now)
{
    uint16_t before[WIRE_SETTING_COUNT];
    if (now->last_id == witness->seen.last_id) {
        return;
    }
    memcpy(before, witness->settings, sizeof before);
    read_settings(witness, host);
    /* By one command, that is: of several in one step the first may have made safe, and so may a stop. */
    BROKEN_IF(witness->seen.state != WIRE_STATE_SAFE && now->state != WIRE_STATE_SAFE && !witness->found_stopped &&
                  now->last_id == (uint8_t)(witness->seen.last_id + 1u) &&
                  memcmp(before, witness->settings, sizeof before) != 0,
              "S-7", "a setting changes while the cannon is at work");
}

/* The first byte of a save tells of it, by the half that it goes to: another half only after a save that was whole. */
static void watch_eeprom(struct witness *witness, struct host *host)
{
    const uint8_t *eeprom = host_eeprom(host);
    if (memcmp(eeprom, witness->eeprom, sizeof witness->eeprom) == 0) {
        return;
    }
    uint8_t half = memcmp(eeprom, witness->eeprom, EEPROM_HALF) == 0;
    memcpy(witness->eeprom, eeprom, sizeof witness->eeprom);
    if (witness->save_begun && half == witness->save_half) {
        return;
    }
    if (witness->save_begun) {
        memcpy(witness->stored, witness->saved, sizeof witness->stored);
    }
    memcpy(witness->saved, witness->settings, sizeof witness->saved);
    witness->save_begun = true;
    witness->save_half = half;
}

static void check_restored(struct witness *witness)
{
    bool old = memcmp(witness->settings, witness->stored, sizeof witness->stored) == 0;
    bool new = witness->save_begun && memcmp(witness->settings, witness->saved, sizeof witness->saved) == 0;
    BROKEN_IF(!old && !new, "S-12", "after a reset the settings are neither those saved before nor those of the save");
    memcpy(witness->stored, witness->settings, sizeof witness->stored);
    witness->save_begun = false;
}

/* -- the line away from the cannon --------------------------------------------------------------------------------- */

static const uint8_t answer_lengths[WIRE_COMMAND_COUNT + 1u] = {
    [WIRE_COMMAND_IDENTIFY] = WIRE_ANSWER_IDENTIFY_LENGTH,
    [WIRE_COMMAND_STATUS] = WIRE_ANSWER_STATUS_LENGTH,
    [WIRE_COMMAND_HEARTBEAT] = WIRE_ANSWER_HEARTBEAT_LENGTH,
    [WIRE_COMMAND_CONFIGURE] = WIRE_ANSWER_CONFIGURE_LENGTH,
    [WIRE_COMMAND_READ_SETTING] = WIRE_ANSWER_READ_SETTING_LENGTH,
    [WIRE_COMMAND_SAVE_SETTINGS] = WIRE_ANSWER_SAVE_SETTINGS_LENGTH,
    [WIRE_COMMAND_HOME] = WIRE_ANSWER_HOME_LENGTH,
    [WIRE_COMMAND_MOVE] = WIRE_ANSWER_MOVE_LENGTH,
    [WIRE_COMMAND_COCK] = WIRE_ANSWER_COCK_LENGTH,
    [WIRE_COMMAND_LOAD] = WIRE_ANSWER_LOAD_LENGTH,
    [WIRE_COMMAND_LET_DOWN] = WIRE_ANSWER_LET_DOWN_LENGTH,
    [WIRE_COMMAND_ARM] = WIRE_ANSWER_ARM_LENGTH,
    [WIRE_COMMAND_FIRE] = WIRE_ANSWER_FIRE_LENGTH,
    [WIRE_COMMAND_SAFE] = WIRE_ANSWER_SAFE_LENGTH,
    [WIRE_COMMAND_SERVICE] = WIRE_ANSWER_SERVICE_LENGTH,
    [WIRE_COMMAND_READ_HISTORY] = WIRE_ANSWER_READ_HISTORY_LENGTH,
};

static const uint8_t event_lengths[WIRE_EVENT_COUNT] = {
    [WIRE_EVENT_BOOTED - WIRE_EVENT_BOOTED] = WIRE_EVENT_BOOTED_LENGTH,
    [WIRE_EVENT_STATE_CHANGED - WIRE_EVENT_BOOTED] = WIRE_EVENT_STATE_CHANGED_LENGTH,
    [WIRE_EVENT_SHOT_SEEN - WIRE_EVENT_BOOTED] = WIRE_EVENT_SHOT_SEEN_LENGTH,
    [WIRE_EVENT_MOVE_DONE - WIRE_EVENT_BOOTED] = WIRE_EVENT_MOVE_DONE_LENGTH,
    [WIRE_EVENT_FAULT - WIRE_EVENT_BOOTED] = WIRE_EVENT_FAULT_LENGTH,
    [WIRE_EVENT_INPUT_CHANGED - WIRE_EVENT_BOOTED] = WIRE_EVENT_INPUT_CHANGED_LENGTH,
    [WIRE_EVENT_SETTINGS_SAVED - WIRE_EVENT_BOOTED] = WIRE_EVENT_SETTINGS_SAVED_LENGTH,
};

static void forget_what_was_sent(struct witness *witness)
{
    memset(witness->events, 0, sizeof witness->events);
    witness->event_seen = witness->event_acknowledged = false;
    witness->answer_seen = false;
}

static void check_event_told(const struct line_frame *frame)
{
    switch (frame->type) {
    case WIRE_EVENT_STATE_CHANGED:
        BROKEN_IF(frame->payload[0] >= WIRE_STATE_COUNT || frame->payload[1] >= WIRE_STATE_COUNT ||
                      frame->payload[2] >= WIRE_CAUSE_COUNT,
                  "S-14", "a change of state that has no words");
        break;
    case WIRE_EVENT_FAULT:
        BROKEN_IF(frame->payload[0] == 0 || frame->payload[0] > WIRE_FAULT_COUNT, "S-14", "a fault that has no words");
        break;
    default:
        break;
    }
}

static const char *event_name(uint8_t type)
{
    static const char *const names[WIRE_EVENT_COUNT] = {
        "booted", "state_changed", "shot_seen", "move_done", "fault", "input_changed", "settings_saved",
    };
    return names[type - WIRE_EVENT_BOOTED];
}

/* Events come in the order of their numbers, the same whenever they are sent again, and not once acknowledged. */
static void take_event(struct witness *witness, const struct line_frame *frame)
{
    struct witness_event *event = &witness->events[frame->sequence];
    target_say("    it says: event %u, %s", frame->sequence, event_name(frame->type));
    BROKEN_IF(frame->length != event_lengths[frame->type - WIRE_EVENT_BOOTED], "line", "an event of the wrong length");
    check_event_told(frame);
    if (event->known && !witness->events_unsure) {
        BROKEN_IF(event->type != frame->type || memcmp(event->payload, frame->payload, frame->length) != 0, "line",
                  "an event is sent again, and is another one");
        BROKEN_IF(witness->event_acknowledged &&
                      (uint8_t)(witness->acknowledged_event - frame->sequence) < EVENTS_NEAR, "line",
                  "an event is sent again after it was acknowledged");
        return;
    }
    BROKEN_IF(witness->event_seen && !witness->events_unsure &&
                  (int8_t)(frame->sequence - witness->newest_event) <= 0, "line",
              "events come out of order");
    event->known = true;
    event->type = frame->type;
    memcpy(event->payload, frame->payload, frame->length);
    witness->events[(uint8_t)(frame->sequence + 128u)].known = false;
    witness->event_seen = true;
    witness->newest_event = frame->sequence;
}

/* A refusal that is no answer to a command of this session, so that the last answer stays. */
static bool aside(const struct line_frame *frame)
{
    uint8_t reason = frame->payload[0];
    return frame->type == WIRE_REFUSAL_TYPE &&
           (reason == WIRE_REFUSAL_OUT_OF_SEQUENCE || reason == WIRE_REFUSAL_NOT_IDENTIFIED ||
            reason == WIRE_REFUSAL_BAD_LENGTH);
}

static void take_answer(struct witness *witness, const struct line_frame *frame)
{
    uint8_t answer[sizeof witness->answer] = {frame->sequence, frame->type, (uint8_t)frame->length};
    memcpy(&answer[3], frame->payload, frame->length);
    target_say(frame->type == WIRE_REFUSAL_TYPE ? "    it says: %u is refused, reason %u" : "    it says: %u is done",
               frame->sequence, frame->payload[0]);
    if (frame->type == WIRE_REFUSAL_TYPE) {
        BROKEN_IF(frame->length != WIRE_REFUSAL_LENGTH, "line", "a refusal of the wrong length");
        BROKEN_IF(frame->payload[0] == 0 || frame->payload[0] > WIRE_REFUSAL_COUNT, "S-14",
                  "a refusal that has no words");
        refusals[witness->seen.state][frame->payload[0]] = 1;
    } else {
        uint8_t command = (uint8_t)(frame->type - WIRE_ANSWER_OFFSET);
        BROKEN_IF(command == 0 || command > WIRE_COMMAND_COUNT || frame->length != answer_lengths[command], "line",
                  "an answer to no command, or of the wrong length");
        BROKEN_IF(command == WIRE_COMMAND_SAFE && frame->payload[0] != WIRE_STATE_SAFE &&
                      frame->payload[0] != WIRE_STATE_LETTING_DOWN, /* its dwell is over */
                  "S-4", "not safe though asked for");
    }
    witness->answers += witness->answer_expected && frame->sequence == witness->answer_expected_id;
    if (frame->type == WIRE_COMMAND_IDENTIFY + WIRE_ANSWER_OFFSET) {
        bool same = witness->answer_seen && memcmp(answer, witness->answer, sizeof answer) == 0;
        if (same && witness->sessions_answered == witness->session_count) {
            return; /* said again */
        }
        forget_what_was_sent(witness);
        witness->events_unsure = same;
        witness->sessions_answered = witness->session_count;
    }
    if (aside(frame)) {
        return;
    }
    if (witness->answer_seen && witness->answer[0] == frame->sequence) {
        BROKEN_IF(memcmp(answer, witness->answer, sizeof answer) != 0, "line",
                  "a command that was sent again has another answer");
        return;
    }
    memcpy(witness->answer, answer, sizeof answer);
    witness->answer_seen = true;
    uint16_t by = witness->acknowledged_by[frame->sequence];
    uint8_t acknowledged = (uint8_t)(by - 1u);
    witness->acknowledged_by[frame->sequence] = 0;
    if (frame->type == WIRE_COMMAND_HEARTBEAT + WIRE_ANSWER_OFFSET && by != 0 && by != WITNESS_UNSURE &&
        witness->event_seen && (uint8_t)(witness->newest_event - acknowledged) < EVENTS_NEAR) {
        witness->event_acknowledged = true;
        witness->acknowledged_event = acknowledged;
    }
}

static bool read_byte(struct witness *witness, uint8_t byte, struct line_frame *frame)
{
    struct line_reader *sent = &witness->sent;
    unsigned count = sent->count;
    while (!line_read(sent, witness->sessions[witness->sent_session], byte, frame)) {
        if (byte != WIRE_FLAG || witness->torn || witness->sent_session + 1u >= witness->session_count) {
            return false;
        }
        witness->sent_session++;
        sent->count = count;
    }
    return true;
}

static void read_sent(struct witness *witness, struct host *host)
{
    static struct line_frame frame;
    uint8_t byte;
    while (host_sent(host, &byte, 1) != 0) {
        BROKEN_IF(byte == WIRE_STOP, "line", "the cannon sends a stop byte");
        bool whole = read_byte(witness, byte, &frame);
        if (byte != WIRE_FLAG) {
            continue;
        }
        if (!whole) {
            BROKEN_IF(!witness->torn, "line", "the cannon sends what is no frame");
        } else if (frame.type >= WIRE_EVENT_BOOTED && frame.type < WIRE_EVENT_BOOTED + WIRE_EVENT_COUNT) {
            take_event(witness, &frame);
        } else {
            take_answer(witness, &frame);
        }
        witness->torn = false;
    }
}

/* -- what happens to the cannon ------------------------------------------------------------------------------------ */

static void begin_sessions(struct witness *witness)
{
    witness->sessions[0] = LINE_NO_SESSION;
    witness->session_count = 1;
    witness->sent_session = 0;
}

void witness_begin(struct witness *witness, struct host *host)
{
    memset(witness, 0, sizeof *witness);
    witness->heard.of_no_session = WIRE_COMMAND_IDENTIFY;
    witness->sent.of_no_session = WIRE_COMMAND_IDENTIFY + WIRE_ANSWER_OFFSET;
    memcpy(witness->eeprom, host_eeprom(host), sizeof witness->eeprom);
    host_reset(host, WIRE_RESET_CAUSE_POWER_ON);
    read_settings(witness, host);
    memcpy(witness->stored, witness->settings, sizeof witness->stored);
    witness->seen = look(host);
    begin_sessions(witness);
}

int32_t witness_session(const struct witness *witness)
{
    return witness->seen.identified ? witness->seen.session : LINE_NO_SESSION;
}

static void hear(struct witness *witness, const struct line_frame *frame)
{
    witness->stop_reigns = witness->stop_reigns && witness->stops_begun != witness->stops;
    if (frame->type == WIRE_COMMAND_FIRE && frame->length == WIRE_COMMAND_FIRE_LENGTH) {
        uint32_t token = 0;
        for (unsigned i = WIRE_COMMAND_FIRE_LENGTH; i-- > 0;) {
            token = token << 8 | frame->payload[i];
        }
        witness->fires[witness->fire_count % WITNESS_FIRES].token = token;
        witness->fires[witness->fire_count++ % WITNESS_FIRES].sequence = frame->sequence;
    }
    if (frame->type == WIRE_COMMAND_HEARTBEAT) {
        uint16_t *by = &witness->acknowledged_by[frame->sequence];
        uint16_t acknowledged = (uint16_t)(frame->payload[0] + 1u);
        *by = *by == 0 || *by == acknowledged ? acknowledged : WITNESS_UNSURE;
    }
}

void witness_receive(struct witness *witness, struct host *host, uint8_t byte)
{
    static struct line_frame frame;
    struct host_view was = look(host);
    bool whole = false;
    host_receive(host, &byte, 1);
    if (!was.powered) {
        return;
    }
    if (byte == WIRE_STOP) {
        witness->stops++;
        witness->stopped = true;
        witness->stop_reigns = true;
    } else {
        if (witness->heard.count == 0) {
            witness->stops_begun = witness->stops;
        }
        whole = line_read(&witness->heard, witness_session(witness), byte, &frame);
    }
    if (whole) {
        hear(witness, &frame);
    }
    struct host_view now = look(host);
    BROKEN_IF(byte == WIRE_STOP && now.trigger, "S-13", "a stop byte leaves the trigger on");
    if (now.pulls != was.pulls) {
        take_pull_by_interrupt(witness, whole ? &frame : NULL, &was);
    }
}

void witness_set_pins(struct witness *witness, struct host *host, uint8_t levels)
{
    uint8_t fallen = (uint8_t)(witness->pins & ~levels & PERMISSIONS);
    witness->pins = levels;
    host_set_inputs(host, levels);
    struct host_view now = look(host);
    if (!now.powered) {
        return;
    }
    witness->lost |= fallen;
    BROKEN_IF(fallen && now.trigger, "S-3", "an interrupt leaves the trigger on");
    BROKEN_IF(now.pulls != witness->seen.pulls && !witness->shot_by_interrupt, "S-1", "a pin fires");
}

void witness_pass(struct witness *witness, struct host *host, uint32_t duration_us)
{
    witness->clock_us += duration_us;
    host_hang(host, duration_us);
    struct host_view now = look(host);
    check_longest_holds(witness, &now, duration_us);
}

void witness_think(struct witness *witness, struct host *host)
{
    struct host_view was = look(host);
    witness->shot_by_loop = false;
    if (!was.powered) {
        return;
    }
    witness->lost |= (uint8_t)(PERMISSIONS & ~witness->pins);
    witness->found_stopped = witness->stopped;
    witness->found_reign = witness->stop_reigns;
    witness->found_lost = witness->lost;
    witness->found_shot = witness->shot_by_interrupt;
    witness->stopped = witness->shot_by_interrupt = false;
    witness->lost = 0;
    host_think(host);
    if (look(host).pulls != was.pulls) {
        take_pull_by_loop(witness);
    }
}

void witness_act(struct witness *witness, struct host *host)
{
    uint32_t pulls = look(host).pulls;
    host_act(host);
    struct host_view now = look(host);
    BROKEN_IF(now.pulls != pulls, "S-1", "the trigger is pulled by what the main loop has not decided");
    if (!now.powered) {
        watch_eeprom(witness, host);
        read_sent(witness, host);
        BROKEN_IF(now.trigger || now.loader, "S-6", "an output on without power");
        witness->seen.powered = false;
        return;
    }
    if (now.identified && (!witness->seen.identified || now.session != witness->seen.session)) {
        witness->session_count -= witness->session_count == WITNESS_SESSIONS;
        witness->sessions[witness->session_count++] = now.session;
    }
    watch_turn(witness, &now);
    check_settings(witness, host, &now);
    check_shots(witness, &now);
    check_arming(witness, &now);
    check_stops(witness, &now);
    check_silence(witness, &now);
    check_safe(witness, &now);
    check_leaving_safe(witness, &now);
    check_dwell(witness, &now);
    check_holds(witness, &now);
    check_limits(witness, &now);
    check_lever(witness, &now);
    watch_eeprom(witness, host);
    read_sent(witness, host);
    /* A let-down that a stop broke off may have begun again in the same step, the dwell being over. */
    bool again = now.state == WIRE_STATE_LETTING_DOWN &&
                 (witness->found_stopped || witness->found_lost & WIRE_INPUT_ESTOP_OK_MASK);
    if (now.state != witness->seen.state || now.token != witness->seen.token || again) {
        witness->entered_us = witness->clock_us;
    }
    check_work(witness, &now);
    if (now.state != witness->seen.state) {
        target_say("  %s, for: %s", witness_state_name(now.state), witness_cause_name(now.cause));
    }
    witness->turn_noted = witness->turn_needed;
    witness->draw_may_begin = false;
    if (!witness->catching_up) {
        witness->counted_us = witness->clock_us;
    }
    witness->seen = now;
}

void witness_reset(struct witness *witness, struct host *host, uint8_t cause)
{
    read_sent(witness, host);
    host_reset(host, cause);
    struct host_view now = look(host);
    bool kept = cause != WIRE_RESET_CAUSE_POWER_ON;
    uint16_t draw = witness->seen.pulse_ticks[WIRE_AXIS_DRAW];
    witness->draw_may_begin =
        kept && (witness->draw_may_begin || (draw != 0 && draw != witness->settings[WIRE_SETTING_DRAW_REST_TICKS]));
    BROKEN_IF(now.state != WIRE_STATE_SAFE || now.trigger || now.loader || now.armed_lamp, "S-5",
              "not safe after a reset");
    for (unsigned axis = 0; axis < WIRE_AXIS_COUNT; axis++) {
        BROKEN_IF(now.pulse_ticks[axis] != 0, "S-5", "pulses begin by a reset");
    }
    witness->seen = now;
    witness->pulls_at_reset = now.pulls;
    witness->shot_by_interrupt = witness->found_shot = false;
    uint64_t dwell_us = (uint64_t)witness->settings[WIRE_SETTING_DWELL_MS] * MS_US;
    read_settings(witness, host);
    keep_dwell(witness, dwell_us);
    check_restored(witness);
    witness->stopped = witness->stop_reigns = false;
    witness->lost = 0;
    witness->heard.count = 0;
    witness->torn = witness->sent.count != 0;
    forget_what_was_sent(witness);
    begin_sessions(witness);
    witness->key_on_us = witness->heard_us = witness->entered_us = witness->clock_us;
    witness->turn_needed = kept && witness->turn_noted;
    witness->turn_noted = witness->turn_needed;
    witness->catching_up = false;
    target_say("  safe, after a reset");
}
