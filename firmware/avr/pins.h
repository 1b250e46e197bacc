/* Which pin does what on the Arduino Uno; docs/wiring.md is the same for people. Inputs have their pull-ups on, and
 * each is wired so that a broken wire reads as the level that permits nothing. */
#ifndef PINS_H
#define PINS_H

#include <avr/io.h>

/* Port D: D0 and D1 are the serial line. */
#define PIN_ESTOP PD2    /* D2, in: low = circuit closed */
#define PIN_KEY PD3      /* D3, in: low = on */
#define PIN_TRIGGER PD4  /* D4, out: high = solenoid energised */
#define PIN_TRAVERSE PD5 /* D5, out: servo, OC0B */
#define PIN_DRAW PD6     /* D6, out: servo, OC0A */
#define PIN_LATCH PD7    /* D7, out: servo */

/* Port B */
#define PIN_AZIMUTH PB1   /* D9, out: servo, OC1A */
#define PIN_ELEVATION PB2 /* D10, out: servo, OC1B */
#define PIN_LOADER PB3    /* D11, out: high = energised */
#define PIN_LAMP PB5      /* D13, out: high = armed */

/* Port C */
#define PIN_GATE_FIRST PC0    /* A0, in: high = blocked */
#define PIN_GATE_SECOND PC1   /* A1, in: high = blocked */
#define PIN_LEVER_DRAWN PC2   /* A2, in: low = drawn */
#define PIN_LEVER_LATCHED PC3 /* A3, in: low = latched */
#define PIN_LANE PC4          /* A4, in: low = clear */

#endif
