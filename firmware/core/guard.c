#include "guard.h"

#include "out_of_line.h"

void guard_light_fuse(const struct guard *guard, struct receiver *receiver, uint8_t next_sequence)
{
    uint8_t before = board_lock();
    receiver->fuse_sequence = next_sequence;
    receiver->fuse_live = !guard->lost && !receiver->stopped;
    board_unlock(before);
}

bool guard_release(struct guard *guard, const struct receiver *receiver, bool solenoid)
{
    uint8_t before = board_lock();
    bool permitted = !guard->lost && !receiver->stopped && !guard->hold_expired && board_pins_permit_fire();
    if (permitted && solenoid) {
        board_pull_trigger();
        guard->trigger_periods_left = GUARD_TRIGGER_PERIODS;
    }
    board_unlock(before);
    return permitted;
}

void guard_apply(struct guard *guard, struct receiver *receiver, bool trigger, bool loader)
{
    uint8_t before = board_lock();
    if (!trigger && !receiver->fuse_fired) { /* one that the interrupt pulled is for the core to take notice of first */
        board_drop_trigger();
        guard->trigger_periods_left = 0;
    }
    board_unlock(before); /* whatever waits has its turn */
    before = board_lock();
    if (loader != guard->loader_applied) {
        guard->loader_applied = loader;
        guard->loader_periods_left = loader ? GUARD_LOADER_PERIODS : 0;
        board_set_loader(loader);
    }
    board_unlock(before);
}
