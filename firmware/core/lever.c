#include "lever.h"

#include "out_of_line.h"
#include "ramp.h"

/* A servo lags its pulses; it has arrived this long after the last step of the ramp. */
#define SETTLE_PERIODS 8u
/* An axis that had no pulses may stand anywhere; by then the servo has crossed its whole range. */
#define FIRST_PULSE_PERIODS 30u

/* An axis sets out for what a setting says. */
static OUT_OF_LINE void go(struct axes *axes, const struct settings *settings, uint8_t axis, uint8_t to_setting)
{
    axes_go(axes, settings, axis, settings_value(settings, to_setting));
}

/* Gives draw and latch pulses where the switches say that they must be standing. */
static void power(struct lever *lever, struct axes *axes, const struct settings *settings, uint8_t inputs)
{
    bool drawn = (inputs & WIRE_INPUT_LEVER_DRAWN_MASK) != 0;
    bool latched = (inputs & WIRE_INPUT_LEVER_LATCHED_MASK) != 0;
    uint8_t draw_at = drawn && !latched ? WIRE_SETTING_DRAW_BREECH_TICKS : WIRE_SETTING_DRAW_REST_TICKS;
    uint8_t latch_at = latched ? WIRE_SETTING_LATCH_HELD_TICKS : WIRE_SETTING_LATCH_FREE_TICKS;
    bool draw_new = axes_power(axes, WIRE_AXIS_DRAW, settings_value(settings, draw_at));
    bool latch_new = axes_power(axes, WIRE_AXIS_LATCH, settings_value(settings, latch_at));
    if (draw_new || latch_new) {
        lever->settle_periods = FIRST_PULSE_PERIODS;
    }
}

/* A servo is on its way; one that may have stood anywhere takes as long as it did before. */
static void settle(struct lever *lever)
{
    if (lever->settle_periods < SETTLE_PERIODS) {
        lever->settle_periods = SETTLE_PERIODS;
    }
}

/* Draw and latch are where they should be, the servos too. */
static bool arrived(struct lever *lever, const struct axes *axes)
{
    if (axes_moving(axes) & (1u << WIRE_AXIS_DRAW | 1u << WIRE_AXIS_LATCH)) {
        settle(lever);
        return false;
    }
    return lever->settle_periods == 0;
}

static void relax(struct lever *lever, struct axes *axes, const struct settings *settings, uint8_t inputs)
{
    const struct axis *draw = &axes->axis[WIRE_AXIS_DRAW];
    const struct axis *latch = &axes->axis[WIRE_AXIS_LATCH];
    bool draw_out = draw->powered && draw->position_ticks != settings_value(settings, WIRE_SETTING_DRAW_REST_TICKS);
    bool latched = (inputs & WIRE_INPUT_LEVER_LATCHED_MASK) != 0;
    /* First make the latch one thing or the other, while the draw stands still: held if it has the lever, open if
     * not. Half turned it could catch the lever on its way, and drop it later. */
    axes_hold(axes, WIRE_AXIS_LATCH);
    if (latch->powered && latched) {
        go(axes, settings, WIRE_AXIS_LATCH, WIRE_SETTING_LATCH_HELD_TICKS);
    } else if (latch->powered && draw_out) {
        go(axes, settings, WIRE_AXIS_LATCH, WIRE_SETTING_LATCH_FREE_TICKS);
    }
    if (!draw_out) {
        return;
    }
    if (axes_moving(axes) & 1u << WIRE_AXIS_LATCH) {
        axes_hold(axes, WIRE_AXIS_DRAW);
        settle(lever);
    } else if (lever->settle_periods == 0) {
        go(axes, settings, WIRE_AXIS_DRAW, WIRE_SETTING_DRAW_REST_TICKS);
    } else {
        axes_hold(axes, WIRE_AXIS_DRAW);
    }
}

OUT_OF_LINE void lever_start(struct lever *lever, uint8_t task)
{
    lever->task = task;
    lever->step = task == LEVER_LET_DOWN ? LEVER_STEP_DRAW : LEVER_STEP_OPEN;
    lever->easing = task == LEVER_RELAX || task == LEVER_HOME;
}

bool lever_step(struct lever *lever, struct axes *axes, const struct settings *settings, uint8_t inputs)
{
    bool drawn = (inputs & WIRE_INPUT_LEVER_DRAWN_MASK) != 0;
    bool latched = (inputs & WIRE_INPUT_LEVER_LATCHED_MASK) != 0;
    if (lever->settle_periods != 0) {
        lever->settle_periods--;
    }
    if (lever->task == LEVER_RELEASE) {
        go(axes, settings, WIRE_AXIS_LATCH, WIRE_SETTING_LATCH_FREE_TICKS);
        return false;
    }
    if (lever->task == LEVER_RELAX) {
        relax(lever, axes, settings, inputs);
        return false;
    }
    power(lever, axes, settings, inputs);
    switch (lever->step) {
    case LEVER_STEP_OPEN: {
        /* A hand may have latched the lever since: then nothing but the latch holds it. */
        uint8_t turn_to = latched ? WIRE_SETTING_LATCH_HELD_TICKS : WIRE_SETTING_LATCH_FREE_TICKS;
        go(axes, settings, WIRE_AXIS_LATCH, turn_to);
        if (arrived(lever, axes) && !latched) {
            lever->step = lever->task == LEVER_HOME ? LEVER_STEP_RETURN : LEVER_STEP_DRAW;
        }
        break;
    }
    case LEVER_STEP_DRAW:
        go(axes, settings, WIRE_AXIS_DRAW, WIRE_SETTING_DRAW_BREECH_TICKS);
        if (arrived(lever, axes) && drawn) {
            lever->step = LEVER_STEP_TURN;
        }
        break;
    case LEVER_STEP_TURN: {
        uint8_t turn_to = lever->task == LEVER_COCK       ? WIRE_SETTING_LATCH_HELD_TICKS
                          : lever->task == LEVER_LET_DOWN ? WIRE_SETTING_LATCH_FREE_TICKS
                                                          : WIRE_SETTING_LATCH_LUBRICATE_TICKS;
        go(axes, settings, WIRE_AXIS_LATCH, turn_to);
        bool turned = lever->task == LEVER_COCK ? latched : lever->task == LEVER_LET_DOWN ? !latched : true;
        if (arrived(lever, axes) && turned) {
            if (lever->task == LEVER_SERVICE) {
                lever->step = LEVER_STEP_DONE;
                return true;
            }
            lever->easing = lever->task == LEVER_LET_DOWN;
            lever->step = LEVER_STEP_RETURN;
        }
        break;
    }
    case LEVER_STEP_RETURN:
        go(axes, settings, WIRE_AXIS_DRAW, WIRE_SETTING_DRAW_REST_TICKS);
        if (arrived(lever, axes) && (lever->task == LEVER_COCK || !drawn)) {
            lever->step = LEVER_STEP_DONE;
            return true;
        }
        break;
    default:
        break;
    }
    return false;
}

uint16_t lever_time_ms(uint8_t task, const struct axes *axes, const struct settings *settings)
{
    const uint16_t *values = settings->values;
    const struct axis *latch = &axes->axis[WIRE_AXIS_LATCH];
    uint16_t free_ticks = values[WIRE_SETTING_LATCH_FREE_TICKS];
    uint16_t rest_ticks = values[WIRE_SETTING_DRAW_REST_TICKS];
    uint16_t breech_ticks = values[WIRE_SETTING_DRAW_BREECH_TICKS];
    uint16_t latch_speed_ticks = values[WIRE_SETTING_LATCH_SPEED_TICKS];
    unsigned periods = FIRST_PULSE_PERIODS + 4u * SETTLE_PERIODS;
    if (latch->powered) {
        periods += ramp_periods(latch->position_ticks, free_ticks, latch_speed_ticks);
    }
    if (task == LEVER_HOME || task == LEVER_LET_DOWN) {
        const struct axis *draw = &axes->axis[WIRE_AXIS_DRAW];
        uint16_t from_ticks = task == LEVER_LET_DOWN ? breech_ticks : draw->powered ? draw->position_ticks : rest_ticks;
        periods += ramp_periods(from_ticks, rest_ticks, values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS]);
    } else {
        uint8_t turned = task == LEVER_COCK ? WIRE_SETTING_LATCH_HELD_TICKS : WIRE_SETTING_LATCH_LUBRICATE_TICKS;
        periods += ramp_periods(free_ticks, values[turned], latch_speed_ticks);
    }
    if (task != LEVER_HOME) { /* to the breech, and for cocking back again */
        unsigned drawing = ramp_periods(rest_ticks, breech_ticks, values[WIRE_SETTING_DRAW_SPEED_TICKS]);
        periods += task == LEVER_COCK ? 2u * drawing : drawing;
    }
    /* Under a minute: four times the longest way, 4000 ticks, at the least speed of draw and latch, 6 ticks a period. */
    return (uint16_t)(periods * RAMP_PERIOD_MS);
}
