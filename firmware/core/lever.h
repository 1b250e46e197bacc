/* The spring's lever: drawing and latching it, letting it down, and easing it whenever something breaks in between.
 *
 * The one rule behind every task: the draw never goes forward faster than it can be eased unless the latch has the
 * lever, and the latch never lets go unless the draw has it. DESIGN.md goes through every step that can be interrupted.
 */
#ifndef LEVER_H
#define LEVER_H

#include <stdbool.h>
#include <stdint.h>

#include "axes.h"
#include "settings.h"

enum lever_task {
    LEVER_RELAX,    /* not working: ease forward what is neither latched nor at rest, move nothing else */
    LEVER_HOME,     /* draw at rest, latch open, lever forward */
    LEVER_COCK,     /* draw, latch, draw back to rest */
    LEVER_LET_DOWN, /* take the load, unlatch, ease forward */
    LEVER_SERVICE,  /* draw, turn to 180 degrees, keep holding */
    LEVER_RELEASE,  /* the latch servo is the trigger: turn it free */
};

enum lever_step {
    LEVER_STEP_OPEN,    /* latch to free */
    LEVER_STEP_DRAW,    /* draw to the breech */
    LEVER_STEP_TURN,    /* latch to where the task wants it */
    LEVER_STEP_RETURN,  /* draw back to rest */
    LEVER_STEP_DONE,
};

struct lever {
    uint8_t task; /* enum lever_task */
    uint8_t step; /* enum lever_step */
    bool easing;  /* the draw moves at its easing speed */
    uint8_t settle_periods; /* until the servos, which lag their pulses, have arrived too */
};

/* Begin a task. */
void lever_start(struct lever *lever, uint8_t task);

/* Once a period, before axes_step. `inputs` are debounced. True once, when the task is done (never for RELAX). */
bool lever_step(struct lever *lever, struct axes *axes, const struct settings *settings, uint8_t inputs);

/* The time that the task should take from here. */
uint16_t lever_time_ms(uint8_t task, const struct axes *axes, const struct settings *settings);

#define LEVER_SWITCHES (WIRE_INPUT_LEVER_DRAWN_MASK | WIRE_INPUT_LEVER_LATCHED_MASK)

/* True while something has the lever drawn or latched: the spring is loaded. */
static inline bool lever_held(uint8_t inputs) { return (inputs & LEVER_SWITCHES) != 0; }

#endif
