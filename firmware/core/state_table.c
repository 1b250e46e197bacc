#include "out_of_line.h"
#include "rom.h"
#include "state.h"

/* An entry is the next state plus one, so that what is not written is zero: refused. */
#define TO(next) (WIRE_STATE_##next + 1)

/* What makes safe in every state in which the cannon is at work and answers to a controller. */
#define SAFE_BY_ANY_STOP                                                                                               \
    [STATE_EVENT_MAKE_SAFE] = TO(SAFE), [STATE_EVENT_NEW_SESSION] = TO(SAFE), [STATE_EVENT_STOP_BYTE] = TO(SAFE),      \
    [STATE_EVENT_EMERGENCY_STOP] = TO(SAFE), [STATE_EVENT_KEY_OFF] = TO(SAFE), [STATE_EVENT_HEARTBEAT_LOST] = TO(SAFE)

static const uint8_t table[WIRE_STATE_COUNT][STATE_EVENT_COUNT] ROM = {
    [WIRE_STATE_SAFE] = {
        [STATE_EVENT_HOME] = TO(HOMING),
        [STATE_EVENT_LET_DOWN] = TO(LETTING_DOWN),
        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN),
        [STATE_EVENT_CONFIGURE] = TO(SAFE),
        [STATE_EVENT_MAKE_SAFE] = TO(SAFE),
    },
    [WIRE_STATE_HOMING] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_DONE] = TO(READY),
        [STATE_EVENT_TIMED_OUT] = TO(SAFE),
    },
    [WIRE_STATE_READY] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_HOME] = TO(HOMING),
        [STATE_EVENT_MOVE] = TO(READY),
        [STATE_EVENT_COCK] = TO(COCKING),
        [STATE_EVENT_SERVICE] = TO(SERVICE),
        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN), /* someone drew the lever by hand */
    },
    [WIRE_STATE_COCKING] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_DONE] = TO(COCKED),
        [STATE_EVENT_TIMED_OUT] = TO(SAFE),
        [STATE_EVENT_LATCH_LOST] = TO(SAFE),
    },
    [WIRE_STATE_COCKED] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_MOVE] = TO(COCKED),
        [STATE_EVENT_LOAD] = TO(COCKED),
        [STATE_EVENT_ARM] = TO(ARMED),
        [STATE_EVENT_LET_DOWN] = TO(LETTING_DOWN),
        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN),
        [STATE_EVENT_LATCH_LOST] = TO(SAFE),
    },
    [WIRE_STATE_ARMED] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_FIRE] = TO(FIRING),
        [STATE_EVENT_LET_DOWN] = TO(LETTING_DOWN),
        [STATE_EVENT_ARM_EXPIRED] = TO(COCKED),
        [STATE_EVENT_BAD_TOKEN] = TO(SAFE),
        [STATE_EVENT_LANE_NOT_CLEAR] = TO(SAFE),
        [STATE_EVENT_LOAD_LOST] = TO(SAFE),
        [STATE_EVENT_LATCH_LOST] = TO(SAFE),
        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN),
    },
    [WIRE_STATE_FIRING] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_LANE_NOT_CLEAR] = TO(SAFE),
        [STATE_EVENT_SHOT_SEEN] = TO(SAFE),
        [STATE_EVENT_SHOT_NOT_SEEN] = TO(SAFE),
        [STATE_EVENT_HOLD_EXPIRED] = TO(SAFE),
    },
    /* Letting down needs neither controller nor key: it goes on when they are gone. */
    [WIRE_STATE_LETTING_DOWN] = {
        [STATE_EVENT_MAKE_SAFE] = TO(SAFE),
        [STATE_EVENT_STOP_BYTE] = TO(SAFE),
        [STATE_EVENT_EMERGENCY_STOP] = TO(SAFE),
        [STATE_EVENT_DONE] = TO(SAFE),
        [STATE_EVENT_TIMED_OUT] = TO(SAFE),
    },
    [WIRE_STATE_SERVICE] = {
        SAFE_BY_ANY_STOP,
        [STATE_EVENT_DONE] = TO(SERVICE),
        [STATE_EVENT_LET_DOWN] = TO(LETTING_DOWN),
        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN),
        [STATE_EVENT_TIMED_OUT] = TO(SAFE),
    },
};

/* The default is a command: only what comes by itself is listed. Command is not zero, so the entries are plus one. */
#define BECAUSE(cause) (WIRE_CAUSE_##cause + 1)

static const uint8_t causes[STATE_EVENT_COUNT] ROM = {
    [STATE_EVENT_STOP_BYTE] = BECAUSE(STOP_BYTE),
    [STATE_EVENT_EMERGENCY_STOP] = BECAUSE(EMERGENCY_STOP),
    [STATE_EVENT_KEY_OFF] = BECAUSE(KEY_OFF),
    [STATE_EVENT_LANE_NOT_CLEAR] = BECAUSE(LANE_NOT_CLEAR),
    [STATE_EVENT_HEARTBEAT_LOST] = BECAUSE(HEARTBEAT_LOST),
    [STATE_EVENT_DONE] = BECAUSE(DONE),
    [STATE_EVENT_TIMED_OUT] = BECAUSE(TIMED_OUT),
    [STATE_EVENT_LATCH_LOST] = BECAUSE(LATCH_LOST),
    [STATE_EVENT_LOAD_LOST] = BECAUSE(LOAD_LOST),
    [STATE_EVENT_DWELL_EXPIRED] = BECAUSE(DWELL_EXPIRED),
    [STATE_EVENT_ARM_EXPIRED] = BECAUSE(ARM_EXPIRED),
    [STATE_EVENT_BAD_TOKEN] = BECAUSE(BAD_TOKEN),
    [STATE_EVENT_SHOT_SEEN] = BECAUSE(SHOT_SEEN),
    [STATE_EVENT_SHOT_NOT_SEEN] = BECAUSE(SHOT_NOT_SEEN),
    [STATE_EVENT_HOLD_EXPIRED] = BECAUSE(HOLD_EXPIRED),
};

OUT_OF_LINE uint8_t state_next(uint8_t state, uint8_t event)
{
    if (state >= WIRE_STATE_COUNT || event >= STATE_EVENT_COUNT) {
        return STATE_REFUSED;
    }
    return (uint8_t)(rom_u8(&table[state][event]) - 1u);
}

uint8_t state_cause(uint8_t event)
{
    uint8_t cause = event < STATE_EVENT_COUNT ? rom_u8(&causes[event]) : 0;
    return cause == 0 ? WIRE_CAUSE_COMMAND : (uint8_t)(cause - 1u);
}
