/* The cannon: everything between the line and the pins.
 *
 * The board calls cannon_step from its main loop with the time and the inputs, then guard_apply, and makes its servos
 * what `outputs` says. Its interrupts call the functions of guard.h on `guard` and `receiver`, the transmit interrupt
 * those of outbox.h on `outbox`. Nothing in here waits. */
#ifndef CANNON_H
#define CANNON_H

#include <stdbool.h>
#include <stdint.h>

#include "axes.h"
#include "guard.h"
#include "history.h"
#include "inputs.h"
#include "lever.h"
#include "outbox.h"
#include "receiver.h"
#include "settings.h"
#include "state.h"
#include "store.h"
#include "timers.h"

/* The moment at which a barrier of the muzzle gate became free. */
struct cannon_edge {
    uint32_t time_us;
    bool half_us; /* another half microsecond */
    bool seen;    /* since the last step */
};

/* What the board tells the core. */
struct cannon_inputs {
    uint32_t now_us;
    uint8_t levels; /* the inputs now, bits of WIRE_INPUT_.._MASK */
    struct cannon_edge left_first;
    struct cannon_edge left_second;
};

/* What the core wants of the board. */
struct cannon_outputs {
    bool trigger;
    bool loader;
    bool armed_lamp;
    uint16_t pulse_ticks[WIRE_AXIS_COUNT]; /* servo pulses in 0.5 us; 0: no pulses */
};

/* What should outlive a reset that leaves the supply on. The board keeps it where start-up code does not reach. */
struct cannon_retained {
    uint32_t token_seed;
    uint16_t draw_ticks;    /* where the draw stood off its rest; 0: at rest or without power */
    uint16_t dwell_left_ms; /* until the lever must be let down, where it is held */
    uint8_t levels;         /* of the inputs, of which the lever's switches are believed */
    bool key_cycle_needed;
};

struct cannon {
    struct receiver receiver;
    struct guard guard;
    struct outbox outbox;
    struct settings settings;
    struct store store;
    struct axes axes;
    struct lever lever;
    struct inputs inputs;
    struct cannon_outputs outputs;

    uint8_t state; /* enum wire_state */
    uint8_t cause; /* of the last change, enum wire_cause */
    uint8_t reset_cause;
    uint8_t settings_source;
    uint8_t levels; /* the inputs as they are now, not debounced */
    uint16_t faults;
    uint16_t shots;

    /* Session */
    bool identified;
    bool wire_agreed;
    uint16_t session;
    uint8_t last_id;
    uint8_t asked; /* type of the command in hand */
    uint16_t last_crc;

    /* Arming */
    bool key_cycle_needed;
    uint32_t token_seed;
    uint32_t token;
    bool fired_ahead; /* the interrupt fired; the frame that made it do so has not been answered yet */
    uint32_t released_us;
    bool left_first_seen;
    bool shot_seen;
    struct cannon_edge left_first;

    /* Time */
    uint32_t now_us;  /* of this step */
    uint32_t tick_us; /* up to which timers have counted */
    struct timers timers;
    uint32_t held_ms; /* for how long the lever has been drawn or latched */
    bool held;    /* it is drawn or latched, so dwell counts */
    bool working; /* the lever's task is not done */
    bool loading; /* the loader was asked and no shot is seated yet */
    uint8_t announce; /* axes whose arrival is to be told, bits by enum wire_axis */
};

/* Start after a reset. `retained` is NULL when nothing could be kept. Reads EEPROM, so it takes a moment. */
void cannon_start(struct cannon *cannon, uint8_t reset_cause, const struct cannon_retained *retained);

/* Do all there is to do now. Call at least once a millisecond. */
void cannon_step(struct cannon *cannon, const struct cannon_inputs *inputs);

/* What to keep over a reset, after this step. */
void cannon_retain(const struct cannon *cannon, struct cannon_retained *retained);

/* Let something happen to the state. False, with nothing changed, when the state table has no entry for it. */
bool cannon_happen(struct cannon *cannon, uint8_t event);

/* The receive interrupt may have pulled the trigger since the main loop last looked. That came first: nothing else
 * happens to an armed cannon before it is accounted for. The fuse is out afterwards, fired or not. */
void cannon_account_for_interrupt(struct cannon *cannon);

/* Note a fault and report it, unless it is noted already. */
void cannon_fault(struct cannon *cannon, uint8_t fault, uint16_t detail);

/* Note something in the history. */
void cannon_note(const struct cannon *cannon, uint8_t kind, uint8_t code, uint8_t about, uint16_t detail);

/* The time that homing should take from here. */
uint16_t cannon_homing_time_ms(const struct cannon *cannon);

#endif
