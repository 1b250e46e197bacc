/* The side of safety that runs in interrupts, and the only code that touches the trigger.
 *
 * Off is always allowed, from anywhere. On needs more: the receive interrupt switches on for the fire command that the
 * fuse waits for, the main loop for the slow way, and both look again whether anything has spoken against it. The pins
 * come from board_pins.h, which every board has. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "board_pins.h"
#include "receiver.h"

/* Periods of 20 ms after which an output is switched off whatever the core says. The longest holds that can be set are
 * 100 ms and 1000 ms, to which comes a step of the core; the first period is a part of one. */
#define GUARD_TRIGGER_PERIODS 7u
#define GUARD_LOADER_PERIODS 52u

struct guard {
    volatile uint8_t lost; /* permissions withdrawn since the core looked last, bits of WIRE_INPUT_.._MASK */
    volatile bool hold_expired;
    volatile uint8_t trigger_periods_left;
    volatile uint8_t loader_periods_left;
    bool loader_applied;
};

/* Interrupt: a permission is gone, if only for a moment. */
static inline void guard_withdraw(struct guard *guard, struct receiver *receiver, uint8_t permission)
{
    board_drop_trigger();
    receiver->fuse_live = false;
    guard->lost |= permission;
}

/* Interrupt: what a byte does at once; `pulled` if the trigger has just been pulled for it. */
static inline void guard_obey(struct guard *guard, struct receiver *receiver, uint8_t byte, bool pulled)
{
    if (pulled) {
        guard->trigger_periods_left = GUARD_TRIGGER_PERIODS;
        receiver_burn_fuse(receiver, board_interrupt_time_us());
    } else if (byte == WIRE_STOP) {
        board_drop_trigger();
        receiver->fuse_live = false;
    }
}

/* Interrupt: a byte has come. A board may ask by itself whether it fires, to be quicker, and let other interrupts in
 * before the byte is taken. */
static inline void guard_receive(struct guard *guard, struct receiver *receiver, uint8_t byte)
{
    bool fires = receiver_fires(receiver, byte) && board_pins_permit_fire();
    if (fires) {
        board_pull_trigger();
    }
    guard_obey(guard, receiver, byte, fires);
    receiver_take(receiver, byte);
}

/* Interrupt: a period of 20 ms has passed. */
static inline void guard_period(struct guard *guard)
{
    if (guard->trigger_periods_left != 0 && --guard->trigger_periods_left == 0) {
        board_drop_trigger();
        guard->hold_expired = true;
    }
    if (guard->loader_periods_left != 0 && --guard->loader_periods_left == 0) {
        board_set_loader(false);
        guard->hold_expired = true;
    }
}

/* Main loop: from now on the interrupt obeys the fire command with the fuse's token and this id; unless something has
 * spoken against it that the core has not seen yet. */
void guard_light_fuse(const struct guard *guard, struct receiver *receiver, uint8_t next_sequence);

/* Main loop, the slow way: release now, unless an interrupt has had a reason against it since the core looked, or a pin has
 * one in this instant. The solenoid is pulled at once. Where the latch servo is the trigger, the caller turns it, come what
 * may. */
bool guard_release(struct guard *guard, const struct receiver *receiver, bool solenoid);

/* Main loop: make the loader what the core wants after a step, and let go of a trigger that it does not want. */
void guard_apply(struct guard *guard, struct receiver *receiver, bool trigger, bool loader);

#endif
