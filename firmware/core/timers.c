#include "timers.h"

#include "out_of_line.h"

OUT_OF_LINE void timers_set(struct timers *timers, uint8_t timer, uint16_t ms)
{
    timers->left_ms[timer] = ms == UINT16_MAX ? ms : (uint16_t)(ms + 1u);
}

bool timers_due(const struct timers *timers, uint8_t timer) { return timers->left_ms[timer] == 0; }

void timers_pass(struct timers *timers, uint8_t ms)
{
    for (uint8_t i = 0; i < TIMER_COUNT; i++) {
        timers->left_ms[i] = timers->left_ms[i] > ms ? (uint16_t)(timers->left_ms[i] - ms) : 0;
    }
}
