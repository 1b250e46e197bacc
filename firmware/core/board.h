/* What the core asks of the hardware besides the values it is handed. Every board implements these names. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct history;

/* Which board this is: one of enum wire_board. */
uint8_t board_kind(void);

/* Holds interrupts off, and gives back what board_unlock needs to restore. Sections between the two are short: they
 * delay the emergency stop. */
uint8_t board_lock(void);
void board_unlock(uint8_t before);

/* The ring of what happened last, in RAM that start-up code leaves alone. */
struct history *board_history(void);

/* EEPROM, a byte at a time. Nothing waits: write and read only when board_eeprom_ready says so. */
bool board_eeprom_ready(void);
uint8_t board_eeprom_read(uint16_t address);
void board_eeprom_write(uint16_t address, uint8_t byte);

#endif
