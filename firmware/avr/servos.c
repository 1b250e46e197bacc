#include "servos.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "pins.h"
#include "wire.h"

#define PERIOD_TICKS 40000u /* 20 ms of 0.5 us */
#define PULSE_OVER_TICKS 5100u /* since the period began: the longest aim pulse, 5000 ticks, is over */
#define NEXT_NEAR_TICKS 39900u /* ... and the next one is not yet near */

/* Timer0 counts the same 0.5 us, 256 to a wrap. A pulse rises at a phase of one wrap and falls at a phase of a later
 * one. The overflow interrupt of each of the two wraps sets up the compare unit; both phases are at least 64 ticks
 * (32 us) into the wrap, so it has that long to run. */
#define EARLIEST_PHASE 64u
#define OTHER_PHASE 128u
#define NEVER 0xFFu
#define FIRST_WRAP 1u   /* of traverse and draw */
#define LATCH_WRAP 23u  /* the longest draw pulse, 5000 ticks, is over by then */
#define LAST_WRAP 45u   /* 5.8 ms: the longest latch pulse is over */

struct pulse {
    uint8_t rise_wrap, rise_phase, fall_wrap, fall_phase;
};

static volatile struct pulse traverse = {.rise_wrap = NEVER, .fall_wrap = NEVER};
static volatile struct pulse draw = {.rise_wrap = NEVER, .fall_wrap = NEVER};
static volatile struct pulse latch = {.rise_wrap = NEVER, .fall_wrap = NEVER};
static uint8_t wrap;

void servos_start(void)
{
    ICR1 = PERIOD_TICKS - 1u;
    TCCR1A = _BV(WGM11);
    TCCR1B = _BV(WGM13) | _BV(WGM12) | _BV(CS11);
    TIMSK1 = _BV(TOIE1);
    TCCR0A = 0;
    TCCR0B = _BV(CS01);
}

static struct pulse shape(uint8_t rise_wrap, uint16_t pulse_ticks)
{
    struct pulse pulse = {.rise_wrap = NEVER, .fall_wrap = NEVER};
    if (pulse_ticks != 0) {
        pulse.rise_wrap = rise_wrap;
        pulse.rise_phase = (uint8_t)pulse_ticks < 256u - EARLIEST_PHASE ? EARLIEST_PHASE : OTHER_PHASE;
        uint16_t fall_ticks = (uint16_t)(pulse.rise_phase + pulse_ticks);
        pulse.fall_wrap = (uint8_t)(rise_wrap + (fall_ticks >> 8));
        pulse.fall_phase = (uint8_t)fall_ticks;
    }
    return pulse;
}

/* Only between two trains of pulses, or a rise would meet another pulse's fall. */
static bool set_shape(volatile struct pulse *pulse, uint8_t rise_wrap, uint16_t pulse_ticks)
{
    struct pulse next = shape(rise_wrap, pulse_ticks);
    bool free = false;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        free = !(TIMSK0 & _BV(TOIE0));
        if (free) {
            *pulse = next;
        }
    }
    return free;
}

/* A width is taken with the next pulse. The pin is let go only between two pulses: one that is cut off is a pulse of any
 * width, and the unit would keep its level for the moment at which it gets the pin back. */
static bool set_compare(volatile uint16_t *compare, uint8_t connected, uint16_t pulse_ticks)
{
    bool free = true;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        if (pulse_ticks != 0) {
            *compare = pulse_ticks - 1u;
            TCCR1A |= connected;
        } else {
            free = (uint16_t)(TCNT1 - PULSE_OVER_TICKS) < NEXT_NEAR_TICKS - PULSE_OVER_TICKS;
            if (free) {
                TCCR1A &= (uint8_t)~connected;
            }
        }
    }
    return free;
}

bool servos_set(uint8_t axis, uint16_t pulse_ticks)
{
    switch (axis) {
    case WIRE_AXIS_AZIMUTH:
        return set_compare(&OCR1A, _BV(COM1A1), pulse_ticks);
    case WIRE_AXIS_ELEVATION:
        return set_compare(&OCR1B, _BV(COM1B1), pulse_ticks);
    case WIRE_AXIS_TRAVERSE:
        return set_shape(&traverse, FIRST_WRAP, pulse_ticks);
    case WIRE_AXIS_DRAW:
        return set_shape(&draw, FIRST_WRAP, pulse_ticks);
    default:
        return set_shape(&latch, LATCH_WRAP, pulse_ticks);
    }
}

void servos_period(void)
{
    wrap = 0;
    TIFR0 = _BV(TOV0);
    TIMSK0 |= _BV(TOIE0);
}

/* Lets other interrupts in at once: it has 32 us to get to its end. */
ISR(TIMER0_OVF_vect, ISR_NOBLOCK)
{
    uint8_t now = (uint8_t)(wrap + 1u);
    wrap = now;
    if (now == traverse.rise_wrap) {
        OCR0B = traverse.rise_phase;
        TCCR0A |= _BV(COM0B1) | _BV(COM0B0);
    } else if (now == traverse.fall_wrap) {
        OCR0B = traverse.fall_phase;
        TCCR0A &= (uint8_t)~_BV(COM0B0);
    }
    if (now == draw.rise_wrap) {
        OCR0A = draw.rise_phase;
        TCCR0A |= _BV(COM0A1) | _BV(COM0A0);
    } else if (now == draw.fall_wrap) {
        OCR0A = draw.fall_phase;
        TCCR0A &= (uint8_t)~_BV(COM0A0);
    } else if (now == latch.rise_wrap || now == latch.fall_wrap) {
        OCR0A = now == latch.rise_wrap ? latch.rise_phase : latch.fall_phase;
        TIFR0 = _BV(OCF0A);
        TIMSK0 |= _BV(OCIE0A);
    } else if (now == LAST_WRAP) {
        TIMSK0 &= (uint8_t)~_BV(TOIE0);
    }
}

/* The latch's edges: a rise before the train has passed the fall's wrap, a fall in it. */
ISR(TIMER0_COMPA_vect)
{
    TIMSK0 &= (uint8_t)~_BV(OCIE0A);
    if (wrap == latch.fall_wrap) {
        PORTD &= (uint8_t)~_BV(PIN_LATCH);
    } else {
        PORTD |= _BV(PIN_LATCH);
    }
    sei(); /* others need not wait for the registers to be restored */
}
