/* The cannon's states and what may happen in each: one table, in state_table.c. */
#ifndef STATE_H
#define STATE_H

#include <stdint.h>

#include "wire.h"

/* What happens to the cannon. The first ones are asked for, the others come by themselves. */
enum state_event {
    STATE_EVENT_HOME,
    STATE_EVENT_MOVE,
    STATE_EVENT_COCK,
    STATE_EVENT_LOAD,
    STATE_EVENT_LET_DOWN,
    STATE_EVENT_ARM,
    STATE_EVENT_FIRE,
    STATE_EVENT_SERVICE,
    STATE_EVENT_CONFIGURE, /* change or save settings */
    STATE_EVENT_MAKE_SAFE,
    STATE_EVENT_NEW_SESSION, /* another controller, or the same one started again */
    STATE_EVENT_STOP_BYTE,
    STATE_EVENT_EMERGENCY_STOP,
    STATE_EVENT_KEY_OFF,
    STATE_EVENT_LANE_NOT_CLEAR,
    STATE_EVENT_HEARTBEAT_LOST,
    STATE_EVENT_DONE, /* the work of homing, cocking, letting down or service is finished */
    STATE_EVENT_TIMED_OUT,
    STATE_EVENT_LATCH_LOST,
    STATE_EVENT_LOAD_LOST,
    STATE_EVENT_DWELL_EXPIRED,
    STATE_EVENT_ARM_EXPIRED,
    STATE_EVENT_BAD_TOKEN,
    STATE_EVENT_SHOT_SEEN,
    STATE_EVENT_SHOT_NOT_SEEN,
    STATE_EVENT_HOLD_EXPIRED,
    STATE_EVENT_COUNT,
};

#define STATE_REFUSED 0xFFu

/* The state after an event, or STATE_REFUSED when the table has no entry: then nothing changes. */
uint8_t state_next(uint8_t state, uint8_t event);

/* The cause (enum wire_cause) that a change by this event is reported with. */
uint8_t state_cause(uint8_t event);

#endif
