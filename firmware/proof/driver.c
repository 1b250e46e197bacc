/* Everything that can happen to the core, for Frama-C's value analysis (alarms.md): a start with any EEPROM and anything
 * retained, then steps without end, with any levels at any time, and any interrupt between any two statements that touch
 * what interrupts touch. `preempt` is called there by what weave.py makes of the core. */
#include <stddef.h>

#include "__fc_builtin.h"
#include "cannon.h"

/* Another value at every look. `volatile` itself is defined away on the command line: to the analysis it would mean that
 * the hardware changes what is only shared with interrupts, and those are all here. */
extern __volatile__ uint8_t any_u8;
extern __volatile__ uint16_t any_u16;
extern __volatile__ uint32_t any_u32;
#define ANY_BOOL ((any_u8 & 1u) != 0)

static struct cannon cannon;
static struct history history;
static bool locked;

/* ---- The board ---- */

uint8_t board_kind(void) { return any_u8; }
struct history *board_history(void) { return &history; }
void board_pull_trigger(void) {}
void board_drop_trigger(void) {}
void board_set_loader(bool on) { (void)on; }
bool board_pins_permit_fire(void) { return ANY_BOOL; }
uint32_t board_interrupt_time_us(void) { return any_u32; }
bool board_eeprom_ready(void) { return ANY_BOOL; }
void board_eeprom_write(uint16_t address, uint8_t byte) { (void)address, (void)byte; }

uint8_t board_eeprom_read(uint16_t address)
{
    (void)address;
    return any_u8;
}

static void interrupts(void)
{
    while (ANY_BOOL) {
        switch (any_u8) {
        case 0:
            guard_receive(&cannon.guard, &cannon.receiver, any_u8);
            break;
        case 1:
            guard_withdraw(&cannon.guard, &cannon.receiver, any_u8);
            break;
        case 2:
            guard_period(&cannon.guard);
            break;
        case 3:
            cannon.receiver.lost |= any_u8;
            break;
        default:
            if (!outbox_empty(&cannon.outbox)) {
                (void)outbox_take(&cannon.outbox);
            }
            break;
        }
    }
}

void preempt(void)
{
    if (!locked) {
        interrupts();
    }
}

uint8_t board_lock(void)
{
    preempt();
    uint8_t before = locked;
    locked = true;
    return before;
}

void board_unlock(uint8_t before)
{
    locked = before != 0;
    preempt();
}

/* ---- States ---- */

static uint8_t up_to(uint8_t highest)
{
    uint8_t value = any_u8;
    return value > highest ? highest : value;
}

static struct cannon_edge any_edge(void)
{
    struct cannon_edge edge = {.time_us = any_u32, .half_us = ANY_BOOL, .seen = ANY_BOOL};
    return edge;
}

static void any_settings(struct settings *settings)
{
    static const uint16_t limits[WIRE_SETTING_COUNT][3] = {WIRE_SETTINGS_TABLE}; /* factory, minimum, maximum */
    for (uint8_t i = 0; i < WIRE_SETTING_COUNT; i++) {
        uint16_t value = any_u16;
        settings->values[i] = value < limits[i][1] ? limits[i][1] : value > limits[i][2] ? limits[i][2] : value;
    }
}

/* Any state at all in which a truth is 0 or 1 and the numbers named here are in range, reachable or not. That no step leaves
 * the range is a part of what is proved. */
static void any_state(struct cannon *it)
{
    Frama_C_make_unknown((char *)it, sizeof *it);
    it->receiver.head = up_to(RECEIVER_SLOTS - 1u);
    it->receiver.tail = up_to(RECEIVER_SLOTS - 1u);
    for (uint8_t i = 0; i < RECEIVER_SLOTS; i++) {
        it->receiver.overtaken[i] = ANY_BOOL;
    }
    it->receiver.stopped = ANY_BOOL;
    it->receiver.escaped = ANY_BOOL;
    it->receiver.matches = ANY_BOOL;
    it->receiver.primed = ANY_BOOL;
    it->receiver.fuse_live = ANY_BOOL;
    it->receiver.fuse_fired = ANY_BOOL;
    it->guard.hold_expired = ANY_BOOL;
    it->guard.loader_applied = ANY_BOOL;
    it->outbox.head = up_to(OUTBOX_RING_BYTES - 1u);
    it->outbox.tail = up_to(OUTBOX_RING_BYTES - 1u);
    it->outbox.answer_length = up_to(WIRE_LONGEST_ANSWER_PAYLOAD);
    it->outbox.answer_due = ANY_BOOL;
    it->outbox.aside_due = ANY_BOOL;
    for (uint8_t i = 0; i <= OUTBOX_EVENTS; i++) {
        it->outbox.events[i].length = up_to(WIRE_LONGEST_EVENT_PAYLOAD);
        it->outbox.events[i].sent = ANY_BOOL;
    }
    it->outbox.event_count = up_to(OUTBOX_EVENTS);
    any_settings(&it->settings);
    it->store.copy = up_to(1);
    it->store.position = up_to(STORE_RECORD_BYTES);
    it->store.writing = ANY_BOOL;
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        it->axes.axis[i].powered = ANY_BOOL;
    }
    it->lever.task = up_to(LEVER_RELEASE);
    it->lever.step = up_to(LEVER_STEP_DONE);
    it->lever.easing = ANY_BOOL;
    it->outputs.trigger = ANY_BOOL;
    it->outputs.loader = ANY_BOOL;
    it->outputs.armed_lamp = ANY_BOOL;
    it->state = up_to(WIRE_STATE_COUNT - 1u);
    it->identified = ANY_BOOL;
    it->wire_agreed = ANY_BOOL;
    it->key_cycle_needed = ANY_BOOL;
    it->fired_ahead = ANY_BOOL;
    it->left_first_seen = ANY_BOOL;
    it->shot_seen = ANY_BOOL;
    it->left_first = any_edge();
    it->held = ANY_BOOL;
    it->working = ANY_BOOL;
    it->loading = ANY_BOOL;
    it->announce = up_to((1u << AXES_AIMING) - 1u);
}

int main(void)
{
    struct cannon_retained retained = {.token_seed = any_u32, .draw_ticks = any_u16, .key_cycle_needed = ANY_BOOL};
    Frama_C_make_unknown((char *)&history, sizeof history);
    locked = true;
    cannon_start(&cannon, any_u8, ANY_BOOL ? &retained : NULL);
    locked = false;
    if (ANY_BOOL) {
        any_state(&cannon);
    }
    for (;;) {
        struct cannon_inputs inputs = {
            .now_us = any_u32, .levels = any_u8, .left_first = any_edge(), .left_second = any_edge()};
        preempt();
        cannon_step(&cannon, &inputs);
        preempt();
        guard_apply(&cannon.guard, &cannon.receiver, cannon.outputs.trigger, cannon.outputs.loader);
        preempt();
        cannon_retain(&cannon, &retained);
    }
}
