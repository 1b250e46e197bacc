/* Arithmetic of a speed-limited servo axis. Positions are pulse widths in ticks of 0.5 us. */
#ifndef RAMP_H
#define RAMP_H

#include <stdint.h>

/* A servo gets one pulse in this time, and a ramp takes one step. */
#define RAMP_PERIOD_MS 20u

/* The position one period later: towards the target by at most `speed_ticks`, never beyond it. */
uint16_t ramp_next(uint16_t position_ticks, uint16_t target_ticks, uint16_t speed_ticks);

/* The value, or the nearer end of low..high. */
uint16_t ramp_clamp(uint16_t ticks, uint16_t low_ticks, uint16_t high_ticks);

/* Periods from one position to another. */
uint16_t ramp_periods(uint16_t from_ticks, uint16_t to_ticks, uint16_t speed_ticks);

/* Time from one position to another, rounded up to whole periods. No axis has that far to go, at the least speed that can
 * be set for it, that the time would not fit. */
uint16_t ramp_time_ms(uint16_t from_ticks, uint16_t to_ticks, uint16_t speed_ticks);

#endif
