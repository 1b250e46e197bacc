/* Output compare as silicon does it (trap 1): OCR1x is buffered until BOTTOM in the PWM modes, edges have the timer's
 * own cycle, and a pin goes back to its PORT bit when its compare output is taken off. */
#include <string.h>

#include "internal.h"

/* From a timer's event to when simavr gets to it: an instruction and the entry of an interrupt. */
#define LONGEST_DELAY 16

enum { COM_OFF = 0, COM_TOGGLE = 1, COM_CLEAR = 2, COM_SET = 3 };

/* simavr 1.6 has mode 14 down as phase-correct, but runs that with a single slope, which is right for mode 14. */
static int buffers_compare(const avr_timer_t *timer)
{
    return timer->cs_div_value
        && (timer->wgm_op_mode_kind == avr_timer_wgm_fast_pwm || timer->wgm_op_mode_kind == avr_timer_wgm_pwm);
}

static avr_timer_comp_t *compare_of(const chip *c, int timer, int compare)
{
    return &c->timer[timer]->comp[compare];
}

int timers_compare_drives(const chip *c, int port, int bit, uint8_t *level)
{
    uint16_t port_register = (uint16_t)(REG_PINB + 3 * port + 2);
    for (int t = 0; t < CHIP_TIMERS; t++)
        for (int k = 0; k < CHIP_COMPARES; k++) {
            avr_timer_comp_t *compare = compare_of(c, t, k);
            if (compare->com_pin.reg != port_register || compare->com_pin.bit != bit)
                continue;
            if (avr_regbit_get(c->avr, compare->com) == COM_OFF)
                return 0;
            *level = c->compare_level[t][k];
            return 1;
        }
    return 0;
}

static void on_compare(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    compare_ref *ref = param;
    chip *c = ref->owner;
    avr_timer_t *timer = c->timer[ref->timer];
    avr_timer_comp_t *compare = compare_of(c, ref->timer, ref->compare);
    uint8_t mode = avr_regbit_get(c->avr, compare->com), level = value & 1;
    uint64_t cycle = c->avr->cycle, period = compare->comp_cycles, exact = timer->tov_base;
    if (!buffers_compare(timer)) {
        /* simavr turns the pin back at each overflow, as if this were PWM. */
        if (level != (mode == COM_SET) && mode != COM_TOGGLE)
            return;
    } else {
        int at_bottom = level == (mode == COM_CLEAR);
        if (at_bottom)
            c->compare_cycles[ref->timer][ref->compare] = period;
        period = at_bottom ? 0 : c->compare_cycles[ref->timer][ref->compare];
    }
    exact += period;
    /* The timer's own cycle, which lies within the instruction just done; not on the first start of a timer. */
    if (mode != COM_OFF && exact <= cycle && cycle - exact < LONGEST_DELAY)
        cycle = exact;
    c->compare_level[ref->timer][ref->compare] = level;
    pins_refresh(c, cycle);
}

uint64_t timers_flag_cycle(const chip *c, const avr_int_vector_t *vector)
{
    for (int t = 0; t < CHIP_TIMERS; t++) {
        const avr_timer_t *timer = c->timer[t];
        if (vector == &timer->overflow)
            return timer->tov_base + timer->tov_cycles;
        for (int k = 0; k < CHIP_COMPARES; k++) {
            const avr_timer_comp_t *compare = &timer->comp[k];
            if (vector == &compare->interrupt) /* at the top it comes with the overflow, which has moved the base */
                return timer->tov_base + (compare->comp_cycles == timer->tov_cycles ? 0 : compare->comp_cycles);
        }
    }
    return CHIP_NEVER;
}

static void write_ocr(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    avr_timer_t *timer = c->timer[1];
    int k = address == REG_OCR1AL ? 0 : 1;
    if (!buffers_compare(timer)) {
        c->ocr_write[k].call(avr, address, value, c->ocr_write[k].param);
        return;
    }
    /* The overflow timer reads comp_cycles when it comes: that is the buffer. */
    avr->data[address] = value;
    uint32_t ocr = value | (uint32_t)avr->data[address + 1] << 8;
    timer->comp[k].comp_cycles = ocr <= timer->tov_top ? (uint64_t)timer->cs_div_value * (ocr + 1) : 0;
}

static void write_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    int t = address == REG_TCCR0A ? 0 : address == REG_TCCR1A ? 1 : 2;
    c->control_write[t].call(avr, address, value, c->control_write[t].param);
    pins_refresh(c, avr->cycle);
}

void timers_init(chip *c)
{
    static const uint16_t control[CHIP_TIMERS] = { REG_TCCR0A, REG_TCCR1A, REG_TCCR2A };
    for (avr_io_t *part = c->avr->io_port; part; part = part->next)
        if (!strcmp(part->kind, "timer")) {
            avr_timer_t *timer = (avr_timer_t *)part;
            c->timer[timer->name - '0'] = timer;
        }
    for (uint8_t t = 0; t < CHIP_TIMERS; t++) {
        chip_set_handler(c, control[t], write_control, &c->control_write[t]);
        for (uint8_t k = 0; k < CHIP_COMPARES; k++) {
            c->compares[t][k] = (compare_ref){ c, t, k };
            avr_irq_register_notify(c->timer[t]->io.irq + TIMER_IRQ_OUT_COMP + k, on_compare, &c->compares[t][k]);
        }
    }
    chip_set_handler(c, REG_OCR1AL, write_ocr, &c->ocr_write[0]);
    chip_set_handler(c, REG_OCR1BL, write_ocr, &c->ocr_write[1]);
}

void timers_after_reset(chip *c)
{
    /* simavr's reset leaves the old mode and divider in its books, though the registers are zero. */
    for (int t = 0; t < CHIP_TIMERS; t++) {
        c->timer[t]->cs_div_value = 0;
        c->timer[t]->tov_cycles = 0;
        c->timer[t]->mode = c->timer[t]->wgm_op[0];
        c->timer[t]->wgm_op_mode_kind = c->timer[t]->mode.kind;
        for (int k = 0; k < CHIP_COMPARES; k++)
            c->compare_level[t][k] = 0;
    }
}
