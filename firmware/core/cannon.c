#include "cannon.h"

#include <string.h>

#include "board.h"
#include "commands.h"
#include "out_of_line.h"
#include "ramp.h"

#define TICK_US 1000u
/* A key that is turned by hand is off for at least this long; a bad contact is not. */
#define KEY_OFF_MS 50u
/* An aiming axis that had no pulses may stand anywhere; by then the servo has crossed its whole range. */
#define FIRST_PULSE_MS 1000u
/* The lever may take this much longer to come home than computed. */
#define HOMING_SPARE_MS 2000u
/* By this long after a reset the switches tell where the lever is. */
#define SWITCHES_TOLD_MS 100u
/* The shot rolls from the loader to its seat in this time after the pulse. */
#define LOADER_ROLL_MS 500u

static uint16_t setting(const struct cannon *cannon, uint8_t code) { return settings_value(&cannon->settings, code); }

static OUT_OF_LINE void set_timer(struct cannon *cannon, uint8_t timer, uint16_t ms)
{
    timers_set(&cannon->timers, timer, ms);
}

static OUT_OF_LINE bool due(const struct cannon *cannon, uint8_t timer) { return timers_due(&cannon->timers, timer); }

/* Begin an event. Events are for a controller that has said who it is; before that there is nobody to read them. */
static void begin_event(struct cannon *cannon, uint8_t event)
{
    outbox_event(&cannon->outbox, event, cannon->identified);
}

static void put_u8(struct cannon *cannon, uint8_t value) { outbox_u8(&cannon->outbox, value); }

static void put_u16(struct cannon *cannon, uint16_t value) { outbox_u16(&cannon->outbox, value); }

static void put_u32(struct cannon *cannon, uint32_t value) { outbox_u32(&cannon->outbox, value); }

OUT_OF_LINE void cannon_note(const struct cannon *cannon, uint8_t kind, uint8_t code, uint8_t about, uint16_t detail)
{
    history_note(board_history(), kind, code, about, detail, cannon->now_us);
}

void cannon_fault(struct cannon *cannon, uint8_t fault, uint16_t detail)
{
    uint16_t bit = (uint16_t)(1u << (fault - 1u));
    if (cannon->faults & bit) {
        return;
    }
    cannon->faults |= bit;
    cannon_note(cannon, WIRE_HISTORY_KIND_FAULT, fault, cannon->state, detail);
    begin_event(cannon, WIRE_EVENT_FAULT);
    put_u8(cannon, fault);
    put_u16(cannon, detail);
}

uint16_t cannon_homing_time_ms(const struct cannon *cannon)
{
    uint16_t longest_ms = lever_time_ms(LEVER_HOME, &cannon->axes, &cannon->settings);
    for (uint8_t i = 0; i < AXES_AIMING; i++) {
        uint16_t home_ticks = setting(cannon, AXES_HOME_SETTING(i));
        uint16_t time_ms = axes_time_ms(&cannon->axes, &cannon->settings, i, home_ticks);
        longest_ms = time_ms > longest_ms ? time_ms : longest_ms;
    }
    return (uint16_t)(longest_ms + FIRST_PULSE_MS);
}

static OUT_OF_LINE void hold_aim(struct cannon *cannon)
{
    for (uint8_t i = 0; i < AXES_AIMING; i++) {
        axes_hold(&cannon->axes, i);
    }
    cannon->announce = 0;
}

static OUT_OF_LINE void aim_home(struct cannon *cannon)
{
    for (uint8_t i = 0; i < AXES_AIMING; i++) {
        uint16_t home_ticks = setting(cannon, AXES_HOME_SETTING(i));
        if (axes_power(&cannon->axes, i, home_ticks)) {
            set_timer(cannon, TIMER_AIM_SETTLED, FIRST_PULSE_MS);
        }
        axes_go(&cannon->axes, &cannon->settings, i, home_ticks);
    }
}

static void begin_work(struct cannon *cannon, uint8_t task, uint16_t limit_ms)
{
    lever_start(&cannon->lever, task);
    cannon->working = true;
    set_timer(cannon, TIMER_WORK, limit_ms);
}

/* A limit that is too short for the speeds that are set would leave the lever cocked for good. */
static void begin_let_down(struct cannon *cannon)
{
    uint16_t limit_ms = setting(cannon, WIRE_SETTING_LET_DOWN_TIMEOUT_MS);
    uint16_t needed_ms = lever_time_ms(LEVER_LET_DOWN, &cannon->axes, &cannon->settings);
    begin_work(cannon, LEVER_LET_DOWN, limit_ms > needed_ms ? limit_ms : needed_ms);
}

static void enter_safe(struct cannon *cannon, uint8_t from)
{
    hold_aim(cannon);
    /* A let-down that a hand broke off, or that failed, is tried again after another dwell. One that the controller
     * broke off is not put off: its dwell goes on. */
    if (from == WIRE_STATE_LETTING_DOWN &&
        (cannon->cause == WIRE_CAUSE_EMERGENCY_STOP || cannon->cause == WIRE_CAUSE_TIMED_OUT)) {
        set_timer(cannon, TIMER_DWELL, setting(cannon, WIRE_SETTING_DWELL_MS));
    }
}

static void enter_armed(struct cannon *cannon)
{
    cannon->fired_ahead = false; /* nobody asks any more for the answer to the fire before */
    set_timer(cannon, TIMER_ARMED, setting(cannon, WIRE_SETTING_ARM_EXPIRES_MS));
    receiver_set_fuse(&cannon->receiver, cannon->token);
}

/* A step of the ramps. True when the lever's task is done. */
static OUT_OF_LINE bool step_ramps(struct cannon *cannon)
{
    timers_set(&cannon->timers, TIMER_PERIOD, RAMP_PERIOD_MS - 1u);
    bool done = lever_step(&cannon->lever, &cannon->axes, &cannon->settings, cannon->inputs.levels);
    axes_step(&cannon->axes, &cannon->settings, cannon->lever.easing);
    return done;
}

static void enter_firing(struct cannon *cannon)
{
    cannon->shots++;
    cannon->left_first_seen = false;
    cannon->shot_seen = false;
    set_timer(cannon, TIMER_SHOT, setting(cannon, WIRE_SETTING_SHOT_TIMEOUT_MS));
    set_timer(cannon, TIMER_TRIGGER, setting(cannon, WIRE_SETTING_TRIGGER_HOLD_MS));
    if (setting(cannon, WIRE_SETTING_TRIGGER_KIND) == 0) {
        cannon->outputs.trigger = true;
    } else {
        lever_start(&cannon->lever, LEVER_RELEASE);
        step_ramps(cannon); /* the latch has begun to turn, whatever comes next */
    }
}

/* What each state begins with. Whatever was going on ends first, so a state owes nothing to the one before. */
static void enter(struct cannon *cannon, uint8_t from)
{
    cannon->outputs.trigger = false;
    cannon->outputs.loader = false;
    cannon->loading = false;
    cannon->working = false;
    axes_hold(&cannon->axes, WIRE_AXIS_DRAW);
    axes_hold(&cannon->axes, WIRE_AXIS_LATCH);
    lever_start(&cannon->lever, LEVER_RELAX);
    switch (cannon->state) {
    case WIRE_STATE_SAFE:
        enter_safe(cannon, from);
        break;
    case WIRE_STATE_HOMING:
        cannon->faults = 0;
        aim_home(cannon);
        begin_work(cannon, LEVER_HOME,
                   lever_time_ms(LEVER_HOME, &cannon->axes, &cannon->settings) + HOMING_SPARE_MS);
        break;
    case WIRE_STATE_COCKING:
        begin_work(cannon, LEVER_COCK, setting(cannon, WIRE_SETTING_COCK_TIMEOUT_MS));
        break;
    case WIRE_STATE_SERVICE:
        begin_work(cannon, LEVER_SERVICE, setting(cannon, WIRE_SETTING_COCK_TIMEOUT_MS));
        break;
    case WIRE_STATE_LETTING_DOWN:
        hold_aim(cannon);
        begin_let_down(cannon);
        break;
    case WIRE_STATE_ARMED:
        enter_armed(cannon);
        break;
    case WIRE_STATE_FIRING:
        enter_firing(cannon);
        break;
    default: /* ready and cocked begin with nothing */
        break;
    }
    cannon->outputs.armed_lamp = cannon->state == WIRE_STATE_ARMED || cannon->state == WIRE_STATE_FIRING;
}

/* The lever has been drawn or latched for as long as it may be. */
static bool dwell_over(const struct cannon *cannon) { return cannon->held && due(cannon, TIMER_DWELL); }

/* What a controller says breaks off no let-down that would begin again at once: from its beginning each time, it would
 * never come to its end. */
static bool goes_on(const struct cannon *cannon, uint8_t event)
{
    return cannon->state == WIRE_STATE_LETTING_DOWN &&
           (event == STATE_EVENT_STOP_BYTE || event == STATE_EVENT_MAKE_SAFE) && dwell_over(cannon);
}

static bool happen(struct cannon *cannon, uint8_t event)
{
    uint8_t from = cannon->state;
    uint8_t next = state_next(from, event);
    if (next == STATE_REFUSED) {
        return false;
    }
    if ((next == from && event != STATE_EVENT_DONE) || goes_on(cannon, event)) {
        return true;
    }
    cannon->state = next;
    cannon->cause = state_cause(event);
    if (next != from) {
        enter(cannon, from);
    }
    if (cannon->cause != WIRE_CAUSE_COMMAND && cannon->cause != WIRE_CAUSE_DONE &&
        cannon->cause != WIRE_CAUSE_SHOT_SEEN) {
        cannon_note(cannon, WIRE_HISTORY_KIND_CHANGED, cannon->cause, from, next);
    }
    begin_event(cannon, WIRE_EVENT_STATE_CHANGED);
    put_u8(cannon, next);
    put_u8(cannon, from);
    put_u8(cannon, cannon->cause);
    put_u32(cannon, cannon->now_us);
    return true;
}

void cannon_account_for_interrupt(struct cannon *cannon)
{
    uint32_t fired_us;
    if (cannon->state == WIRE_STATE_ARMED && receiver_clear_fuse(&cannon->receiver, &fired_us)) {
        cannon->released_us = fired_us;
        cannon->fired_ahead = true;
        happen(cannon, STATE_EVENT_FIRE);
    }
}

bool cannon_happen(struct cannon *cannon, uint8_t event)
{
    if (state_next(cannon->state, event) != STATE_REFUSED) {
        cannon_account_for_interrupt(cannon);
    }
    return happen(cannon, event);
}

static void take_stops(struct cannon *cannon)
{
    uint8_t before = board_lock();
    bool stopped = cannon->receiver.stopped;
    uint8_t missing = (uint8_t)(cannon->guard.lost | (INPUTS_PERMISSIONS & ~cannon->levels));
    bool hold_expired = cannon->guard.hold_expired;
    cannon->receiver.stopped = false;
    cannon->guard.lost = 0;
    cannon->guard.hold_expired = false;
    board_unlock(before);
    uint8_t lost = missing & cannon->inputs.levels; /* what is missing still is not lost a second time */
    inputs_lose(&cannon->inputs, missing);
    if (missing & WIRE_INPUT_ESTOP_OK_MASK) {
        cannon->key_cycle_needed = true;
    }
    if (stopped) {
        cannon_happen(cannon, STATE_EVENT_STOP_BYTE);
    }
    if (lost & WIRE_INPUT_ESTOP_OK_MASK) {
        cannon_happen(cannon, STATE_EVENT_EMERGENCY_STOP);
    }
    if (lost & WIRE_INPUT_KEY_ON_MASK) {
        cannon_happen(cannon, STATE_EVENT_KEY_OFF);
    }
    if (lost & WIRE_INPUT_LANE_CLEAR_MASK) {
        cannon_happen(cannon, STATE_EVENT_LANE_NOT_CLEAR);
    }
    if (hold_expired) {
        cannon_happen(cannon, STATE_EVENT_HOLD_EXPIRED); /* of the trigger; the loader's changes no state */
        cannon->outputs.loader = false;
    }
}

/* After an emergency stop the key must have been off for a while, and then come on with the stop released. Off without a
 * break: until it has been, each time the contact closes begins the while anew, be it too short to be believed. */
static void watch_key(struct cannon *cannon)
{
    if (!(cannon->levels & WIRE_INPUT_KEY_ON_MASK)) {
        return;
    }
    bool believed = cannon->inputs.levels & WIRE_INPUT_KEY_ON_MASK;
    bool was_off = due(cannon, TIMER_KEY_OFF);
    if (believed && was_off && cannon->inputs.levels & WIRE_INPUT_ESTOP_OK_MASK) {
        cannon->key_cycle_needed = false;
    }
    if (believed || !was_off) {
        set_timer(cannon, TIMER_KEY_OFF, KEY_OFF_MS);
    }
}

static void sample_inputs(struct cannon *cannon, uint8_t before, uint8_t passed_ms)
{
    if (passed_ms != 0) {
        inputs_sample(&cannon->inputs, cannon->levels);
    }
    watch_key(cannon);
    uint8_t levels = cannon->inputs.levels;
    uint8_t changed = (uint8_t)(levels ^ before);
    if (changed & before & WIRE_INPUT_LEVER_LATCHED_MASK &&
        (cannon->state != WIRE_STATE_COCKING || cannon->lever.step == LEVER_STEP_RETURN)) {
        cannon_happen(cannon, STATE_EVENT_LATCH_LOST);
    }
    if (changed & before & WIRE_INPUT_GATE_FIRST_BLOCKED_MASK) {
        cannon_happen(cannon, STATE_EVENT_LOAD_LOST);
    }
    if (lever_held(levels) && !cannon->held) {
        cannon->held_ms = 0;
        set_timer(cannon, TIMER_DWELL, setting(cannon, WIRE_SETTING_DWELL_MS));
    }
    cannon->held = lever_held(levels);
    if (changed) {
        begin_event(cannon, WIRE_EVENT_INPUT_CHANGED);
        put_u8(cannon, levels);
        put_u32(cannon, cannon->now_us);
    }
}

static void watch_gate(struct cannon *cannon, const struct cannon_inputs *inputs)
{
    const struct cannon_edge *first = &inputs->left_first;
    const struct cannon_edge *second = &inputs->left_second;
    if (cannon->state != WIRE_STATE_FIRING) {
        return;
    }
    if (first->seen && !cannon->left_first_seen && (int32_t)(first->time_us - cannon->released_us) >= 0) {
        cannon->left_first = *first;
        cannon->left_first_seen = true;
    }
    if (!second->seen || !cannon->left_first_seen || cannon->shot_seen ||
        (int32_t)(second->time_us - cannon->left_first.time_us) < 0) {
        return;
    }
    uint32_t transit_ticks = (second->time_us - cannon->left_first.time_us) * 2u + second->half_us;
    transit_ticks -= cannon->left_first.half_us;
    cannon->shot_seen = true;
    begin_event(cannon, WIRE_EVENT_SHOT_SEEN);
    put_u32(cannon, cannon->released_us);
    put_u32(cannon, cannon->left_first.time_us);
    put_u16(cannon, transit_ticks > UINT16_MAX ? UINT16_MAX : (uint16_t)transit_ticks);
}

static void watch_shot(struct cannon *cannon)
{
    uint8_t levels = cannon->inputs.levels;
    if (cannon->state != WIRE_STATE_FIRING) {
        return;
    }
    if (due(cannon, TIMER_TRIGGER)) {
        cannon->outputs.trigger = false;
    }
    if (cannon->shot_seen && !cannon->outputs.trigger) {
        cannon_happen(cannon, STATE_EVENT_SHOT_SEEN);
    } else if (due(cannon, TIMER_SHOT) && !cannon->shot_seen) {
        cannon_fault(cannon, WIRE_FAULT_SHOT_NOT_SEEN, cannon->left_first_seen);
        if (lever_held(levels)) {
            cannon_fault(cannon, WIRE_FAULT_RELEASE_TIMEOUT, levels);
        }
        if (levels & WIRE_INPUT_GATE_SECOND_BLOCKED_MASK) {
            cannon_fault(cannon, WIRE_FAULT_STUCK_GATE, levels);
        }
        cannon_happen(cannon, STATE_EVENT_SHOT_NOT_SEEN);
    }
}

static void watch_loader(struct cannon *cannon)
{
    if (!cannon->loading || !due(cannon, TIMER_LOADER)) {
        return;
    }
    if (cannon->outputs.loader) {
        cannon->outputs.loader = false;
        set_timer(cannon, TIMER_LOADER, LOADER_ROLL_MS);
        return;
    }
    cannon->loading = false;
    if (!(cannon->inputs.levels & WIRE_INPUT_GATE_FIRST_BLOCKED_MASK)) {
        cannon_fault(cannon, WIRE_FAULT_LOAD_TIMEOUT, cannon->inputs.levels);
    }
}

static void time_out_work(struct cannon *cannon)
{
    uint8_t step = cannon->lever.step;
    uint8_t fault = step <= LEVER_STEP_DRAW ? WIRE_FAULT_DRAW_TIMEOUT : WIRE_FAULT_LATCH_TIMEOUT;
    if (cannon->state == WIRE_STATE_LETTING_DOWN) {
        fault = WIRE_FAULT_LET_DOWN_FAILED;
    } else if (cannon->state == WIRE_STATE_HOMING) {
        fault = WIRE_FAULT_HOME_TIMEOUT;
    }
    cannon_fault(cannon, fault, step);
    cannon_happen(cannon, STATE_EVENT_TIMED_OUT);
}

static OUT_OF_LINE void watch_clock(struct cannon *cannon)
{
    watch_shot(cannon);
    watch_loader(cannon);
    if (due(cannon, TIMER_HEARD)) {
        cannon_happen(cannon, STATE_EVENT_HEARTBEAT_LOST);
    }
    if (cannon->state == WIRE_STATE_ARMED && due(cannon, TIMER_ARMED)) {
        cannon_happen(cannon, STATE_EVENT_ARM_EXPIRED);
    }
    if (dwell_over(cannon)) {
        cannon_happen(cannon, STATE_EVENT_DWELL_EXPIRED);
    }
    /* An aiming axis at a low speed may still be on its way; it has no switch that could fail. */
    if (cannon->working && cannon->lever.step != LEVER_STEP_DONE && due(cannon, TIMER_WORK)) {
        time_out_work(cannon);
    }
}

static void announce_moves(struct cannon *cannon)
{
    uint8_t arrived = (uint8_t)(cannon->announce & ~axes_moving(&cannon->axes));
    cannon->announce ^= arrived;
    for (uint8_t i = 0; arrived != 0; i++, arrived >>= 1) {
        if (arrived & 1u) {
            begin_event(cannon, WIRE_EVENT_MOVE_DONE);
            put_u8(cannon, i);
            put_u16(cannon, cannon->axes.axis[i].position_ticks);
        }
    }
}

static bool aim_arrived(const struct cannon *cannon)
{
    return (axes_moving(&cannon->axes) & ((1u << AXES_AIMING) - 1u)) == 0 && due(cannon, TIMER_AIM_SETTLED);
}

static void period(struct cannon *cannon)
{
    /* A stop that came since this step began has its turn in the next; the latch turns no further before that. */
    if (cannon->lever.task == LEVER_RELEASE && (cannon->guard.lost != 0 || cannon->receiver.stopped)) {
        return;
    }
    bool done = step_ramps(cannon);
    announce_moves(cannon);
    bool homed = cannon->state == WIRE_STATE_HOMING && cannon->lever.step == LEVER_STEP_DONE;
    if (cannon->working && (homed ? aim_arrived(cannon) : done && cannon->state != WIRE_STATE_HOMING)) {
        cannon->working = false;
        cannon_happen(cannon, STATE_EVENT_DONE);
    }
}

/* The lever is believed to be as it was until the switches have said otherwise for long enough; so the dwell goes on, and
 * a lever that has come forward meanwhile ends it. */
static void keep_dwell(struct cannon *cannon, const struct cannon_retained *retained)
{
    cannon->inputs.levels = retained->levels & LEVER_SWITCHES;
    cannon->held = lever_held(cannon->inputs.levels);
    cannon->timers.left_ms[TIMER_DWELL] =
        ramp_clamp(retained->dwell_left_ms, SWITCHES_TOLD_MS, setting(cannon, WIRE_SETTING_DWELL_MS));
}

void cannon_start(struct cannon *cannon, uint8_t reset_cause, const struct cannon_retained *retained)
{
    memset(cannon, 0, sizeof *cannon);
    receiver_start(&cannon->receiver);
    outbox_start(&cannon->outbox);
    enum store_loaded loaded = store_load(&cannon->store, &cannon->settings);
    cannon->settings_source = loaded == STORE_GOOD ? WIRE_SETTINGS_SOURCE_STORED : WIRE_SETTINGS_SOURCE_FACTORY;
    cannon->state = WIRE_STATE_SAFE;
    cannon->cause = WIRE_CAUSE_RESET;
    cannon->reset_cause = reset_cause;
    lever_start(&cannon->lever, LEVER_RELAX);
    history_start(board_history());
    cannon_note(cannon, WIRE_HISTORY_KIND_RESET, reset_cause, 0, 0);
    set_timer(cannon, TIMER_KEY_OFF, KEY_OFF_MS);
    if (retained != NULL) {
        cannon->token_seed = retained->token_seed;
        cannon->key_cycle_needed = retained->key_cycle_needed;
        keep_dwell(cannon, retained);
        if (retained->draw_ticks != 0) {
            struct axis_range range = axes_range(&cannon->settings, WIRE_AXIS_DRAW);
            axes_power(&cannon->axes, WIRE_AXIS_DRAW,
                       ramp_clamp(retained->draw_ticks, range.low_ticks, range.high_ticks));
        }
    }
    if (loaded == STORE_DAMAGED) {
        cannon_fault(cannon, WIRE_FAULT_SETTINGS_CORRUPT, 0);
    }
    bool watchdog = reset_cause == WIRE_RESET_CAUSE_WATCHDOG;
    if (watchdog || reset_cause == WIRE_RESET_CAUSE_BROWN_OUT) {
        cannon_fault(cannon, watchdog ? WIRE_FAULT_WATCHDOG : WIRE_FAULT_BROWN_OUT, 0);
    }
    outbox_event(&cannon->outbox, WIRE_EVENT_BOOTED, true);
    put_u8(cannon, reset_cause);
    put_u8(cannon, WIRE_VERSION);
}

/* Lets the timers count up to now; returns how many milliseconds that were, at most 255 a step. */
static uint8_t pass_time(struct cannon *cannon)
{
    uint8_t ms = 0;
    while (cannon->now_us - cannon->tick_us >= TICK_US && ms < UINT8_MAX) {
        cannon->tick_us += TICK_US;
        ms++;
    }
    timers_pass(&cannon->timers, ms);
    cannon->held_ms = cannon->held ? cannon->held_ms + ms : 0;
    return ms;
}

static void send_what_is_due(struct cannon *cannon)
{
    if (due(cannon, TIMER_RESEND)) {
        outbox_resend(&cannon->outbox);
    }
    if (outbox_step(&cannon->outbox)) {
        set_timer(cannon, TIMER_RESEND, WIRE_EVENT_RESEND_MS);
    }
}

void cannon_step(struct cannon *cannon, const struct cannon_inputs *inputs)
{
    uint8_t before = cannon->inputs.levels;
    struct receiver_frame frame;
    cannon->now_us = inputs->now_us;
    cannon->levels = inputs->levels;
    uint8_t passed_ms = pass_time(cannon);
    if (cannon->receiver.fuse_fired) {
        cannon_account_for_interrupt(cannon);
    }
    take_stops(cannon);
    watch_gate(cannon, inputs);
    sample_inputs(cannon, before, passed_ms);
    watch_clock(cannon);
    if (cannon->receiver.lost != 0) {
        uint8_t losses = cannon->receiver.lost;
        cannon->receiver.lost = 0; /* one more in this instant would add nothing: the fault is told once */
        if (cannon->identified) {  /* before that nobody talks, and a plug that goes in is a noise */
            cannon_fault(cannon, WIRE_FAULT_RECEIVE_OVERRUN, losses);
        }
    }
    /* The next command waits until the last answer is on its way, or there would be no room to keep it. */
    while (!cannon->outbox.answer_due && !cannon->receiver.stopped && receiver_pop(&cannon->receiver, &frame)) {
        commands_take(cannon, &frame);
        send_what_is_due(cannon);
    }
    if (due(cannon, TIMER_PERIOD)) {
        period(cannon);
    }
    if (store_step(&cannon->store, &cannon->settings)) {
        begin_event(cannon, WIRE_EVENT_SETTINGS_SAVED);
        put_u16(cannon, settings_crc(&cannon->settings));
    }
    send_what_is_due(cannon);
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        const struct axis *axis = &cannon->axes.axis[i];
        cannon->outputs.pulse_ticks[i] = axis->powered ? axis->position_ticks : 0;
    }
}

void cannon_retain(const struct cannon *cannon, struct cannon_retained *retained)
{
    const struct axis *draw = &cannon->axes.axis[WIRE_AXIS_DRAW];
    bool out = draw->powered && draw->position_ticks != setting(cannon, WIRE_SETTING_DRAW_REST_TICKS);
    retained->token_seed = cannon->token_seed;
    retained->draw_ticks = out ? draw->position_ticks : 0;
    retained->dwell_left_ms = cannon->timers.left_ms[TIMER_DWELL];
    retained->levels = cannon->inputs.levels;
    retained->key_cycle_needed = cannon->key_cycle_needed;
}
