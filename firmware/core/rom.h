/* Tables that stay in flash. On a Harvard machine a constant has to be asked for; elsewhere it is just read. */
#ifndef ROM_H
#define ROM_H

#include <stdint.h>

#ifdef __AVR__
#include <avr/pgmspace.h>
#define ROM PROGMEM
static inline uint8_t rom_u8(const uint8_t *address) { return pgm_read_byte(address); }
static inline uint16_t rom_u16(const uint16_t *address) { return pgm_read_word(address); }
#else
#define ROM
static inline uint8_t rom_u8(const uint8_t *address) { return *address; }
static inline uint16_t rom_u16(const uint16_t *address) { return *address; }
#endif

#endif
