#include "ramp.h"

#include "out_of_line.h"

uint16_t ramp_next(uint16_t position_ticks, uint16_t target_ticks, uint16_t speed_ticks)
{
    if (position_ticks < target_ticks) {
        uint16_t left = (uint16_t)(target_ticks - position_ticks);
        return left <= speed_ticks ? target_ticks : (uint16_t)(position_ticks + speed_ticks);
    }
    uint16_t left = (uint16_t)(position_ticks - target_ticks);
    return left <= speed_ticks ? target_ticks : (uint16_t)(position_ticks - speed_ticks);
}

OUT_OF_LINE uint16_t ramp_clamp(uint16_t ticks, uint16_t low_ticks, uint16_t high_ticks)
{
    if (ticks < low_ticks) {
        return low_ticks;
    }
    return ticks > high_ticks ? high_ticks : ticks;
}

uint16_t ramp_periods(uint16_t from_ticks, uint16_t to_ticks, uint16_t speed_ticks)
{
    uint16_t distance = from_ticks < to_ticks ? (uint16_t)(to_ticks - from_ticks) : (uint16_t)(from_ticks - to_ticks);
    return (uint16_t)(distance / speed_ticks + (distance % speed_ticks != 0));
}

uint16_t ramp_time_ms(uint16_t from_ticks, uint16_t to_ticks, uint16_t speed_ticks)
{
    return (uint16_t)(ramp_periods(from_ticks, to_ticks, speed_ticks) * RAMP_PERIOD_MS);
}
