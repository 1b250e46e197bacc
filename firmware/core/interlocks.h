/* What must be true of the inputs before something dangerous is allowed. */
#ifndef INTERLOCKS_H
#define INTERLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define INTERLOCKS_PASSED 0u /* no refusal has this code */

/* The levels of all inputs with which the trigger may be pulled, and the inputs that matter. */
#define INTERLOCKS_FIRE_MASK                                                                                           \
    (WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK |                                  \
     WIRE_INPUT_LEVER_LATCHED_MASK | WIRE_INPUT_GATE_FIRST_BLOCKED_MASK | WIRE_INPUT_GATE_SECOND_BLOCKED_MASK)
#define INTERLOCKS_FIRE_LEVELS (INTERLOCKS_FIRE_MASK & ~WIRE_INPUT_GATE_SECOND_BLOCKED_MASK)

/* Leaving safe: INTERLOCKS_PASSED or a reason, enum wire_refusal. */
uint8_t interlocks_leave_safe(uint8_t levels, bool key_cycle_needed);

/* Arming and firing: INTERLOCKS_PASSED or a reason. */
uint8_t interlocks_fire(uint8_t levels);

#endif
