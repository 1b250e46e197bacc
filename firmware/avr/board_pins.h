/* The pins that guard.h needs, on the Arduino Uno. */
#ifndef BOARD_PINS_H
#define BOARD_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "pins.h"

/* One instruction each; as a function an interrupt would have to save half the registers before it. */
#define ONE_INSTRUCTION static inline __attribute__((always_inline))

ONE_INSTRUCTION void board_pull_trigger(void) { PORTD |= _BV(PIN_TRIGGER); }
ONE_INSTRUCTION void board_drop_trigger(void) { PORTD &= (uint8_t)~_BV(PIN_TRIGGER); }

static inline void board_set_loader(bool on)
{
    if (on) {
        PORTB |= _BV(PIN_LOADER);
    } else {
        PORTB &= (uint8_t)~_BV(PIN_LOADER);
    }
}

/* All that interlocks_fire asks for: these pins of port D low; of these of port C this one high, the others low. */
#define PINS_D_LOW (_BV(PIN_ESTOP) | _BV(PIN_KEY))
#define PINS_C (_BV(PIN_GATE_FIRST) | _BV(PIN_GATE_SECOND) | _BV(PIN_LEVER_LATCHED) | _BV(PIN_LANE))
#define PINS_C_HIGH _BV(PIN_GATE_FIRST)

/* From the pins themselves, at this instant. */
static inline bool board_pins_permit_fire(void)
{
    return (PIND & PINS_D_LOW) == 0 && (PINC & PINS_C) == PINS_C_HIGH;
}

/* The time, in an interrupt. */
uint32_t board_interrupt_time_us(void);

#endif
