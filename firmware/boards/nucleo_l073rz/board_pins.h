/* The pins that guard.h needs, on the Nucleo-L073RZ. */
#ifndef BOARD_PINS_H
#define BOARD_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "pins.h"

/* A write to BSRR changes only the pins that it names, so nothing can come between. */
static inline void board_pull_trigger(void) { GPIOB->BSRR = BIT(PIN_TRIGGER); }
static inline void board_drop_trigger(void) { GPIOB->BSRR = BIT(PIN_TRIGGER) << BSRR_RESET_SHIFT; }

static inline void board_set_loader(bool on)
{
    GPIOB->BSRR = on ? BIT(PIN_LOADER) : BIT(PIN_LOADER) << BSRR_RESET_SHIFT;
}

/* All that interlocks_fire asks for, from the pins themselves, at this instant. */
static inline bool board_pins_permit_fire(void)
{
    const uint32_t a = BIT(PIN_GATE_FIRST) | BIT(PIN_GATE_SECOND) | BIT(PIN_LANE) | BIT(PIN_ESTOP);
    const uint32_t b = BIT(PIN_LEVER_LATCHED) | BIT(PIN_KEY);
    return (GPIOA->IDR & a) == BIT(PIN_GATE_FIRST) && (GPIOB->IDR & b) == 0;
}

/* The time, in an interrupt. */
uint32_t board_interrupt_time_us(void);

#endif
