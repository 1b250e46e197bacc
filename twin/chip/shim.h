/* A simulated ATmega328P that keeps the real chip's promises: libsimavr 1.6 with its traps worked around.
 *
 * `twin.chip` reads the part between the two marks below as its cffi declarations, so that part holds plain
 * declarations only.
 *
 * Theory of operation, and what is done about each trap of libsimavr 1.6 (the numbers are used in the tests)
 *
 *  1. Timer1 with TOP = ICR1 loses writes of OCR1x whose low byte stays the same, and takes the others in the middle
 *     of a pulse. Silicon buffers OCR1x until BOTTOM. So the write handler is replaced (timers.c): the new value
 *     counts from the next overflow. Hardware-compare edges are logged at the timer's own cycle, not at the end of
 *     the instruction during which they fell, or a servo pulse would seem to jitter by up to 4 cycles.
 *  2. A write to PORTx overwrites a driven input with its pull-up, and an output that a timer drives with the PORT
 *     bit. So levels are kept here (pins.c) and computed anew after every change; PINx is read from them.
 *  3. A reset zeroes PINx and the same level raised again is filtered. Same cure: levels outside outlive a reset.
 *  4. Outputs keep their level over a reset. Silicon lets them float. Here an output that is not driven reads low
 *     outside, as if every output had its pull-down, at the very cycle of the reset.
 *  5. The UART takes 11 bits a byte, has a wrong speed when UBRR is written before U2X, and 64 bytes of FIFO. It is
 *     replaced whole (uart.c): 10 bits, sampled at the rate set when they pass, two bytes of FIFO and the shift
 *     register; the byte too many is lost, DOR is set, and the overrun is logged.
 *  6. PD2 or PD3 low with EICRA = 0 installs a timer of one cycle and speed collapses: strict level triggering is
 *     taken off, again after each reset, which puts it back.
 *  7. A reset wipes all cycle timers and `run_cycle_limit`, and avr_reset() leaves EXTRF unset: the shim's own timer
 *     is registered again, the limit set again, and MCUSR gets the flag of the cause (life.c).
 *  8. Sleep paces to wall time and ends one cycle late; frequency and voltages default to others: all set here.
 *  9. Entering an interrupt costs no cycles (4 on silicon, 4 more from sleep); an EEPROM write is over at once
 *     (3.4 ms on silicon, and a byte cut off by a power loss is damaged): see interrupts.c and eeprom.c.
 * 10. Sleep with interrupts off, a sleep mode other than idle (Timer1 would go on), a bad stack or PC end the
 *     simulation: chip_run says which, and twin.chip raises.
 * 11. A store outside RAM ends the simulation too, but simavr has stored by then: up to 62 KiB behind its block, into
 *     the heap of whoever runs it. LPM reads, and SPM writes, behind the flash likewise. So both blocks are made as
 *     large as an address can reach (life.c); a program too large for the flash, which simavr aborts at, is refused.
 *
 * Found besides: writing TIFRx clears all flags of that timer whatever is written, and enabling an interrupt whose
 * flag is set does not raise it (interrupts.c); SBI on PINx toggles every pin that is high (pins.c); compare outputs
 * are turned back at each overflow in the modes without PWM too (timers.c).
 *
 * Pins are numbered port * 8 + bit with B = 0, C = 1, D = 2. Cycles are absolute since the chip was made; they go on
 * through resets and power loss. One thread at a time may be inside the library. */
#ifndef TWIN_CHIP_SHIM_H
#define TWIN_CHIP_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* declarations: begin */
typedef struct chip chip;

/* What chip_events hands out, in order of cycle. */
typedef struct {
    uint64_t cycle;
    uint16_t kind;     /* enum chip_event_kind */
    uint16_t pin;      /* pin; or address for CHIP_EVENT_EEPROM */
    uint32_t value;    /* level, byte or cause */
} chip_event;

enum chip_event_kind {
    CHIP_EVENT_PIN = 1,       /* an output changed as seen outside: driven level, or low when not driven */
    CHIP_EVENT_SENT = 2,      /* a byte left the chip; value as a receiver at the line's rate hears it */
    CHIP_EVENT_RECEIVED = 3,  /* the chip's UART set RXC for this byte */
    CHIP_EVENT_OVERRUN = 4,   /* this received byte was lost: FIFO and shift register were full */
    CHIP_EVENT_RESET = 5,     /* reset began; value is enum chip_cause */
    CHIP_EVENT_STARTED = 6,   /* the start-up delay is over and the first instruction runs */
    CHIP_EVENT_EEPROM = 7,    /* a byte was programmed */
    CHIP_EVENT_POWER_OFF = 8,
    CHIP_EVENT_INTERRUPT = 9, /* a handler began; pin is its vector, value the cycles since its flag */
};

/* Bits of MCUSR. */
enum chip_cause {
    CHIP_CAUSE_POWER_ON = 1,
    CHIP_CAUSE_EXTERNAL = 2,
    CHIP_CAUSE_BROWN_OUT = 4,
    CHIP_CAUSE_WATCHDOG = 8,
};

/* Why chip_run came back. */
enum chip_end {
    CHIP_END_TARGET = 0,
    CHIP_END_SENT = 1,            /* a byte was sent and the caller had asked to stop at it */
    CHIP_END_SLEEP_FOREVER = -1,  /* sleep with interrupts off */
    CHIP_END_SLEEP_MODE = -2,     /* a sleep mode other than idle */
    CHIP_END_CRASHED = -3,        /* bad stack, PC, opcode or address */
};

/* NULL when the ELF cannot be read or does not fit. Made without power: call chip_reset with CHIP_CAUSE_POWER_ON. */
chip *chip_new(const char *elf_path, uint32_t line_baud, uint64_t startup_cycles, uint8_t power_on_ram);
void chip_free(chip *c);

uint64_t chip_cycle(const chip *c);
uint32_t chip_program_counter(const chip *c);
int chip_run(chip *c, uint64_t target_cycle, int stop_at_sent_byte);
size_t chip_events(chip *c, chip_event *out, size_t room);

/* Bytes for the chip's receiver, one behind the other at the line's rate, the first not before `cycle` (or now). */
void chip_send(chip *c, const uint8_t *bytes, size_t count, uint64_t cycle);
size_t chip_line_pending(const chip *c);
void chip_line_clear(chip *c);

/* From `cycle` on (now, if that is past) the world outside drives a pin to 0 or 1, or (-1) lets go of it. */
void chip_drive(chip *c, int pin, int level, uint64_t cycle);
int chip_output(const chip *c, int pin);
int chip_pin_driven(const chip *c, int pin);

void chip_reset(chip *c, int cause);
void chip_reset_at(chip *c, int cause, uint64_t cycle);
void chip_power_off(chip *c);

/* The present state, for as often as the same chip shall go back to it. Cycles go back too. */
typedef struct chip_moment chip_moment;
chip_moment *chip_keep(const chip *c);
void chip_go_back(chip *c, const chip_moment *m);
void chip_moment_free(chip_moment *m);

/* What a debugger can do, between two instructions. `chip_hang` lets the core loop for ever, awake; unless told
 * otherwise with interrupts as they are. `chip_freeze` stops the core's clock for a while: all else goes on. */
int chip_asleep(const chip *c);
void chip_hang(chip *c, int interrupts_off);
void chip_poke(chip *c, uint16_t address, uint8_t value);
void chip_freeze(chip *c, uint32_t cycles);

/* Log every interrupt from now on. */
void chip_log_interrupts(chip *c, int on);

/* 1024 bytes. */
void chip_eeprom_read(const chip *c, uint8_t *out);
void chip_eeprom_write(chip *c, const uint8_t *bytes);

uint8_t chip_data(const chip *c, uint16_t address);
/* Address of a global symbol as in the ELF (RAM begins at 0x800100); -1 when there is none. */
int64_t chip_symbol(const chip *c, const char *name);
/* declarations: end */

#endif
