/* The pins that guard.h needs, on the Arduino Uno. */
#ifndef BOARD_PINS_H
#define BOARD_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "pins.h"

static inline void board_pull_trigger(void) { PORTD |= _BV(PIN_TRIGGER); }
static inline void board_drop_trigger(void) { PORTD &= (uint8_t)~_BV(PIN_TRIGGER); }

static inline void board_set_loader(bool on)
{
    if (on) {
        PORTB |= _BV(PIN_LOADER);
    } else {
        PORTB &= (uint8_t)~_BV(PIN_LOADER);
    }
}

/* All that interlocks_fire asks for, from the pins themselves, at this instant. Always inline: a call would delay the
 * trigger by 7 cycles. */
static inline __attribute__((always_inline)) bool board_pins_permit_fire(void)
{
    const uint8_t d = _BV(PIN_ESTOP) | _BV(PIN_KEY);
    const uint8_t c = _BV(PIN_GATE_FIRST) | _BV(PIN_GATE_SECOND) | _BV(PIN_LEVER_LATCHED) | _BV(PIN_LANE);
    return (PIND & d) == 0 && (PINC & c) == _BV(PIN_GATE_FIRST);
}

/* The time, in an interrupt. */
uint32_t board_interrupt_time_us(void);

#endif
