#include "guard.h"

#include "out_of_line.h"

void guard_light_fuse(const struct guard *guard, struct receiver *receiver, uint8_t next_sequence)
{
    uint8_t before = board_lock();
    receiver->fuse_sequence = next_sequence;
    receiver->fuse_live = !guard->lost && !receiver->stopped;
    board_unlock(before);
}

OUT_OF_LINE bool guard_pins_permit_fire(void) { return board_pins_permit_fire(); }

/* Switching on is for the slow way only, and only if no interrupt has had a reason against it since the core looked,
 * and no pin has one now.
 * Switching off leaves alone a trigger that the interrupt has pulled and the core does not know of yet. */
static void apply_trigger(struct guard *guard, const struct receiver *receiver, bool wanted)
{
    if (!wanted) {
        if (!receiver->fuse_fired) {
            board_drop_trigger();
            guard->trigger_periods_left = 0;
        }
    } else if (!guard->trigger_applied && guard->trigger_periods_left == 0 && !guard->lost && !receiver->stopped &&
               !guard->hold_expired && guard_pins_permit_fire()) {
        board_pull_trigger();
        guard->trigger_periods_left = GUARD_TRIGGER_PERIODS;
    }
    guard->trigger_applied = wanted;
}

void guard_apply(struct guard *guard, struct receiver *receiver, bool trigger, bool loader)
{
    uint8_t before = board_lock();
    apply_trigger(guard, receiver, trigger);
    board_unlock(before); /* whatever waits has its turn */
    before = board_lock();
    if (loader != guard->loader_applied) {
        guard->loader_applied = loader;
        guard->loader_periods_left = loader ? GUARD_LOADER_PERIODS : 0;
        board_set_loader(loader);
    }
    board_unlock(before);
}
