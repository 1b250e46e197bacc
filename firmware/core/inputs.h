/* Debounced inputs. A change counts once it has been there for four samples, a millisecond apart; but a permission
 * (emergency stop, key, lane) is lost at the first sample, because doubt must never wait. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdint.h>

#include "wire.h"

#define INPUTS_PERMISSIONS (WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK)

struct inputs {
    uint8_t levels; /* debounced, bits of WIRE_INPUT_.._MASK */
    uint8_t count_low, count_high; /* for each bit, how long it has differed: a two-bit counter lying on its side */
};

/* A permission is withdrawn now, whatever the next samples say. */
void inputs_lose(struct inputs *inputs, uint8_t permissions);

/* One sample, a millisecond after the last. */
void inputs_sample(struct inputs *inputs, uint8_t levels);

#endif
