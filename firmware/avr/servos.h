/* The five servo outputs. Azimuth and elevation come from Timer1's compare units. Traverse and draw come from Timer0's:
 * software only says, well before, which edge comes next, so interrupts cannot move an edge. The latch has three
 * positions and no aim; its edges are made in an interrupt. */
#ifndef SERVOS_H
#define SERVOS_H

#include <stdbool.h>
#include <stdint.h>

/* Before interrupts are on. No axis gets pulses yet. */
void servos_start(void);

/* From the next period on the axis gets pulses of that many 0.5 us; 0: none. False, with nothing changed, while that would
 * cut a pulse (in the first 6 ms of a period at most): ask again. Main loop only. */
bool servos_set(uint8_t axis, uint16_t pulse_ticks);

/* A period of 20 ms begins. In Timer1's overflow interrupt only. */
void servos_period(void);

#endif
