/* The five servo axes: where each pulse is, where it goes, and whether there is one at all. An axis without power gets
 * no pulses; after a reset that is every axis, so a reset moves nothing. */
#ifndef AXES_H
#define AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "wire.h"

/* The aiming axes come first, and each has four settings in a row: minimum, maximum, home, speed. */
#define AXES_AIMING 3u
#define AXES_SETTINGS 4u
#define AXES_HOME_SETTING(axis) ((uint8_t)((axis) * AXES_SETTINGS + 2u))

struct axis {
    uint16_t position_ticks;
    uint16_t target_ticks;
    bool powered;
};

struct axes {
    struct axis axis[WIRE_AXIS_COUNT]; /* by enum wire_axis */
};

/* First and last position that the settings allow an axis. */
struct axis_range {
    uint16_t low_ticks, high_ticks;
};
struct axis_range axes_range(const struct settings *settings, uint8_t axis);

/* Give an unpowered axis pulses, taking it to be at that position. True when it had none before. */
bool axes_power(struct axes *axes, uint8_t axis, uint16_t position_ticks);

/* Aim an axis. Whatever is asked, it stays within its limits. */
void axes_go(struct axes *axes, const struct settings *settings, uint8_t axis, uint16_t target_ticks);

/* Stay where the pulse is now. */
void axes_hold(struct axes *axes, uint8_t axis);

/* One period of 20 ms: every powered axis takes a step. The draw moves at its easing speed if told so. */
void axes_step(struct axes *axes, const struct settings *settings, bool ease_draw);

/* The axes that are not where they are to go, bits by enum wire_axis. */
uint8_t axes_moving(const struct axes *axes);

/* The time that an axis needs from where it is. */
uint16_t axes_time_ms(const struct axes *axes, const struct settings *settings, uint8_t axis, uint16_t target_ticks);

#endif
