#include "axes.h"

#include "check.h"
#include "out_of_line.h"
#include "ramp.h"
#include "rom.h"

CHECK_COMPILE_TIME(aiming_axes_first, WIRE_AXIS_TRAVERSE == 0 && WIRE_AXIS_AZIMUTH == 1 && WIRE_AXIS_ELEVATION == 2);
CHECK_COMPILE_TIME(settings_in_a_row, WIRE_SETTING_TRAVERSE_MIN_TICKS == 0 && WIRE_SETTING_TRAVERSE_MAX_TICKS == 1 &&
                                          WIRE_SETTING_TRAVERSE_HOME_TICKS == AXES_HOME_SETTING(WIRE_AXIS_TRAVERSE) &&
                                          WIRE_SETTING_AZIMUTH_HOME_TICKS == AXES_HOME_SETTING(WIRE_AXIS_AZIMUTH) &&
                                          WIRE_SETTING_ELEVATION_HOME_TICKS == AXES_HOME_SETTING(WIRE_AXIS_ELEVATION));

static const uint8_t speed_setting[WIRE_AXIS_COUNT] ROM = {
    [WIRE_AXIS_TRAVERSE] = WIRE_SETTING_TRAVERSE_SPEED_TICKS,
    [WIRE_AXIS_AZIMUTH] = WIRE_SETTING_AZIMUTH_SPEED_TICKS,
    [WIRE_AXIS_ELEVATION] = WIRE_SETTING_ELEVATION_SPEED_TICKS,
    [WIRE_AXIS_DRAW] = WIRE_SETTING_DRAW_SPEED_TICKS,
    [WIRE_AXIS_LATCH] = WIRE_SETTING_LATCH_SPEED_TICKS,
};

static struct axis_range widened(struct axis_range range, uint16_t ticks)
{
    if (ticks < range.low_ticks) {
        range.low_ticks = ticks;
    }
    if (ticks > range.high_ticks) {
        range.high_ticks = ticks;
    }
    return range;
}

struct axis_range axes_range(const struct settings *settings, uint8_t axis)
{
    const uint16_t *values = settings->values;
    if (axis == WIRE_AXIS_DRAW) {
        uint16_t rest_ticks = values[WIRE_SETTING_DRAW_REST_TICKS];
        return widened((struct axis_range){rest_ticks, rest_ticks}, values[WIRE_SETTING_DRAW_BREECH_TICKS]);
    }
    if (axis == WIRE_AXIS_LATCH) {
        uint16_t free_ticks = values[WIRE_SETTING_LATCH_FREE_TICKS];
        struct axis_range range = {free_ticks, free_ticks};
        range = widened(range, values[WIRE_SETTING_LATCH_HELD_TICKS]);
        return widened(range, values[WIRE_SETTING_LATCH_LUBRICATE_TICKS]);
    }
    return (struct axis_range){values[axis * AXES_SETTINGS], values[axis * AXES_SETTINGS + 1u]};
}

OUT_OF_LINE bool axes_power(struct axes *axes, uint8_t axis, uint16_t position_ticks)
{
    struct axis *it = &axes->axis[axis];
    if (it->powered) {
        return false;
    }
    it->position_ticks = position_ticks;
    it->target_ticks = position_ticks;
    it->powered = true;
    return true;
}

void axes_go(struct axes *axes, const struct settings *settings, uint8_t axis, uint16_t target_ticks)
{
    struct axis_range range = axes_range(settings, axis);
    axes->axis[axis].target_ticks = ramp_clamp(target_ticks, range.low_ticks, range.high_ticks);
}

OUT_OF_LINE void axes_hold(struct axes *axes, uint8_t axis)
{
    axes->axis[axis].target_ticks = axes->axis[axis].position_ticks;
}

void axes_step(struct axes *axes, const struct settings *settings, bool ease_draw)
{
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        struct axis *axis = &axes->axis[i];
        uint16_t speed_ticks = settings->values[rom_u8(&speed_setting[i])];
        if (i == WIRE_AXIS_DRAW && ease_draw) {
            speed_ticks = settings->values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS];
        }
        if (axis->powered) {
            axis->position_ticks = ramp_next(axis->position_ticks, axis->target_ticks, speed_ticks);
        }
    }
}

uint8_t axes_moving(const struct axes *axes)
{
    uint8_t moving = 0;
    for (uint8_t i = WIRE_AXIS_COUNT; i-- > 0;) {
        moving = (uint8_t)(moving << 1);
        if (axes->axis[i].position_ticks != axes->axis[i].target_ticks) {
            moving |= 1u;
        }
    }
    return moving;
}

OUT_OF_LINE uint16_t axes_time_ms(const struct axes *axes, const struct settings *settings, uint8_t axis,
                                  uint16_t target_ticks)
{
    return ramp_time_ms(axes->axis[axis].position_ticks, target_ticks, settings->values[rom_u8(&speed_setting[axis])]);
}
