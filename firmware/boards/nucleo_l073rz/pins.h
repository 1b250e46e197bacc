/* Which pin does what on the Nucleo-L073RZ; README.md is the same for people. Inputs have their pull-ups on, and each is
 * wired so that a broken wire reads as the level that permits nothing. An interrupt line belongs to one pin number of
 * one port, so no two inputs with interrupts share a number. */
#ifndef PINS_H
#define PINS_H

#include "registers.h"

/* Port A */
#define PIN_GATE_FIRST 0u   /* A0, in: high = blocked */
#define PIN_GATE_SECOND 1u  /* A1, in: high = blocked */
#define PIN_TX 2u           /* D1, USART2 to the ST-LINK */
#define PIN_RX 3u           /* D0 */
#define PIN_LEVER_DRAWN 4u  /* A2, in: low = drawn */
#define PIN_LAMP 5u         /* D13, out: high = armed */
#define PIN_LATCH 6u        /* D12, out: servo, TIM22 channel 1 */
#define PIN_ELEVATION 7u    /* D11, out: servo, TIM22 channel 2 */
#define PIN_LANE 9u         /* D8, in: low = clear */
#define PIN_ESTOP 10u       /* D2, in: low = circuit closed */

/* Port B */
#define PIN_LEVER_LATCHED 0u /* A3, in: low = latched */
#define PIN_KEY 3u           /* D3, in: low = on */
#define PIN_TRAVERSE 4u      /* D5, out: servo, TIM3 channel 1 */
#define PIN_TRIGGER 5u       /* D4, out: high = solenoid energised */
#define PIN_LOADER 6u        /* D10, out: high = energised */
#define PIN_DRAW 10u         /* D6, out: servo, TIM2 channel 3 */

/* Port C */
#define PIN_AZIMUTH 7u /* D9, out: servo, TIM3 channel 2 */

#define BIT(pin) (1u << (pin))

#endif
