/* The pins that guard.h needs, in the host build: fields of the host that is being worked on. */
#ifndef BOARD_PINS_H
#define BOARD_PINS_H

#include <stdbool.h>
#include <stdint.h>

void board_pull_trigger(void);
void board_drop_trigger(void);
void board_set_loader(bool on);
bool board_pins_permit_fire(void);
uint32_t board_interrupt_time_us(void);

#endif
