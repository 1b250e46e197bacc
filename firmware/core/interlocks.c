#include "interlocks.h"

uint8_t interlocks_leave_safe(uint8_t levels, bool key_cycle_needed)
{
    if (!(levels & WIRE_INPUT_ESTOP_OK_MASK)) {
        return WIRE_REFUSAL_EMERGENCY_STOP;
    }
    if (!(levels & WIRE_INPUT_KEY_ON_MASK)) {
        return WIRE_REFUSAL_KEY_OFF;
    }
    return key_cycle_needed ? WIRE_REFUSAL_KEY_NOT_CYCLED : INTERLOCKS_PASSED;
}

uint8_t interlocks_fire(uint8_t levels)
{
    uint8_t reason = interlocks_leave_safe(levels, false);
    if (reason != INTERLOCKS_PASSED) {
        return reason;
    }
    if (!(levels & WIRE_INPUT_LANE_CLEAR_MASK)) {
        return WIRE_REFUSAL_LANE_NOT_CLEAR;
    }
    if (!(levels & WIRE_INPUT_LEVER_LATCHED_MASK)) {
        return WIRE_REFUSAL_NOT_LATCHED;
    }
    if (!(levels & WIRE_INPUT_GATE_FIRST_BLOCKED_MASK)) {
        return WIRE_REFUSAL_NOT_LOADED;
    }
    return levels & WIRE_INPUT_GATE_SECOND_BLOCKED_MASK ? WIRE_REFUSAL_MUZZLE_BLOCKED : INTERLOCKS_PASSED;
}
