/* Deadlines as milliseconds that are left. They count down and stay at zero, so no clock that wraps can bring one back,
 * and a state of the cannon has no date. */
#ifndef TIMERS_H
#define TIMERS_H

#include <stdbool.h>
#include <stdint.h>

enum timer {
    TIMER_HEARD,       /* until the controller counts as lost */
    TIMER_DWELL,       /* until a loaded spring must be let down */
    TIMER_WORK,        /* until homing, cocking, letting down or service has taken too long */
    TIMER_AIM_SETTLED, /* until aiming servos that had no pulses have arrived */
    TIMER_ARMED,       /* until the arming expires */
    TIMER_TRIGGER,     /* until the trigger is let go */
    TIMER_SHOT,        /* until the shot should have been seen */
    TIMER_LOADER,      /* until the loader is let go, and then until the shot should be seated */
    TIMER_KEY_OFF,     /* until the key has been off for long enough to have been turned */
    TIMER_RESEND,      /* until events without acknowledgement are sent again */
    TIMER_PERIOD,      /* until the next step of the ramps */
    TIMER_COUNT,
};

struct timers {
    uint16_t left_ms[TIMER_COUNT];
};

/* At least that long from now, and at most a millisecond longer. */
void timers_set(struct timers *timers, uint8_t timer, uint16_t ms);

bool timers_due(const struct timers *timers, uint8_t timer);

/* So much time has passed. */
void timers_pass(struct timers *timers, uint8_t ms);

#endif
