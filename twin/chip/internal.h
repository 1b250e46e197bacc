/* What the files of the shim share. Nothing here is seen outside. */
#ifndef TWIN_CHIP_INTERNAL_H
#define TWIN_CHIP_INTERNAL_H

#include <simavr/avr_eeprom.h>
#include <simavr/avr_timer.h>
#include <simavr/avr_uart.h>
#include <simavr/avr_watchdog.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include "shim.h"

#define CHIP_HZ 16000000u
#define CHIP_NEVER UINT64_MAX
#define CHIP_PORTS 3
#define CHIP_TIMERS 3
#define CHIP_COMPARES 2
#define CHIP_EEPROM_BYTES 1024

/* Addresses in data space (datasheet, register summary). */
enum {
    REG_PINB = 0x23, /* PINx, DDRx, PORTx follow one another; three addresses a port */
    REG_TIFR0 = 0x35,
    REG_TIFR1 = 0x36,
    REG_TIFR2 = 0x37,
    REG_PCIFR = 0x3B,
    REG_EIFR = 0x3C,
    REG_EIMSK = 0x3D,
    REG_EECR = 0x3F,
    REG_EEDR = 0x40,
    REG_EEARL = 0x41,
    REG_EEARH = 0x42,
    REG_SMCR = 0x53,
    REG_MCUSR = 0x54,
    REG_TCCR0A = 0x44,
    REG_PCICR = 0x68,
    REG_TIMSK0 = 0x6E,
    REG_TIMSK1 = 0x6F,
    REG_TIMSK2 = 0x70,
    REG_TCCR1A = 0x80,
    REG_OCR1AL = 0x88,
    REG_OCR1BL = 0x8A,
    REG_TCCR2A = 0xB0,
    REG_UCSR0A = 0xC0,
    REG_UCSR0B = 0xC1,
    REG_UCSR0C = 0xC2,
    REG_UBRR0L = 0xC4,
    REG_UBRR0H = 0xC5,
    REG_UDR0 = 0xC6,
};

typedef struct {
    avr_io_write_t call;
    void *param;
} write_handler;

typedef struct {
    uint64_t cycle;
    int16_t pin;
    int16_t level; /* 0, 1, or -1: let go */
} pin_change;

typedef struct {
    chip *owner;
    avr_int_vector_t *vector;
    uint64_t pending_since;
} vector_ref;

typedef struct {
    chip *owner;
    uint8_t timer, compare;
} compare_ref;

struct uart {
    avr_int_vector_t *received, *emptied, *sent;
    /* The line towards the chip. A byte's start is kept as cycle * baud, so that fractions do not add up. */
    uint32_t line_baud;
    uint8_t *queue;
    size_t queue_head, queue_tail, queue_room;
    uint64_t line_free_scaled;
    uint64_t byte_done;   /* cycle at which the byte under way is sampled whole; CHIP_NEVER when idle */
    uint8_t byte_value;
    uint8_t byte_framing_error;
    /* Receiver. */
    uint8_t fifo[2], fifo_framing_error[2], fifo_count;
    uint64_t fifo_came[2], shift_came; /* when the byte was whole */
    uint8_t shift, shift_framing_error, shift_full;
    /* Transmitter. */
    uint64_t send_done;   /* CHIP_NEVER when idle */
    uint64_t send_bit;
    uint8_t sending, buffer, buffer_full;
};

struct eeprom {
    avr_int_vector_t *ready;
    uint8_t bytes[CHIP_EEPROM_BYTES];
    uint64_t done, began, master_until; /* CHIP_NEVER or 0 when idle */
    uint16_t address;
    uint8_t value, mode;
};

struct chip {
    avr_t *avr;
    elf_firmware_t firmware;
    avr_run_t run_core;   /* simavr's own; the watchdog swaps avr->run to ask for a reset */
    avr_watchdog_t *watchdog;
    uint64_t startup_cycles;
    uint8_t power_on_ram;

    int running;
    int cause;            /* of the reset whose start-up delay is running */
    uint8_t mcusr_kept;
    uint64_t start_at;    /* CHIP_NEVER while without power */
    uint64_t reset_at;
    int reset_cause;
    int fault;            /* enum chip_end below 0, or 0 */
    int sent_flag;        /* a byte left since chip_run began */
    int stop_at_sent_byte; /* chip_run was asked to stop at it */
    int in_due;           /* inside the due timer: it re-arms itself on return */
    int woken;            /* the core slept since the last interrupt */
    int log_interrupts;
    uint64_t due_cycle;   /* while in_due: of what is being done */

    chip_event *events;
    size_t event_count, event_room;

    pin_change *changes;  /* sorted by cycle, first come first */
    size_t change_count, change_room;

    /* Pins, one byte for each port. */
    uint8_t outside_mask[CHIP_PORTS], outside_level[CHIP_PORTS];
    uint8_t seen[CHIP_PORTS];      /* what an observer outside sees of the outputs */
    uint8_t inside[CHIP_PORTS];    /* what the chip reads */
    avr_irq_t *pin_irq[CHIP_PORTS];
    write_handler port_write[CHIP_PORTS][3];

    avr_timer_t *timer[CHIP_TIMERS];
    uint8_t compare_level[CHIP_TIMERS][CHIP_COMPARES];
    uint64_t compare_cycles[CHIP_TIMERS][CHIP_COMPARES]; /* of the period that is running */
    write_handler control_write[CHIP_TIMERS], ocr_write[CHIP_COMPARES];
    compare_ref compares[CHIP_TIMERS][CHIP_COMPARES];

    vector_ref vectors[64];
    struct uart uart;
    struct eeprom eeprom;
};

/* life.c */
void chip_log(chip *c, uint64_t cycle, uint16_t kind, uint16_t pin, uint32_t value);
void chip_arm(chip *c);              /* something is due at another time than before */
void chip_stall(chip *c, unsigned cycles); /* the core stands still */
void chip_set_handler(chip *c, uint16_t address, avr_io_write_t call, write_handler *before);
uint8_t chip_written_ones(const chip *c, uint8_t value); /* the ones the firmware meant, SBI included */

/* pins.c */
void pins_init(chip *c);
void pins_after_reset(chip *c, uint64_t cycle);
void pins_refresh(chip *c, uint64_t cycle);
uint64_t pins_next(const chip *c);
void pins_due(chip *c, uint64_t cycle);

/* timers.c */
void timers_init(chip *c);
void timers_after_reset(chip *c);
int timers_compare_drives(const chip *c, int port, int bit, uint8_t *level);
uint64_t timers_flag_cycle(const chip *c, const avr_int_vector_t *vector); /* CHIP_NEVER: it is no timer's */

/* interrupts.c */
void interrupts_init(chip *c);
void interrupts_after_reset(chip *c);

/* uart.c */
void uart_init(chip *c);
void uart_after_reset(chip *c);
uint64_t uart_next(const chip *c);
void uart_due(chip *c, uint64_t cycle);
void uart_reraise(chip *c, const avr_int_vector_t *vector);
uint64_t uart_flag_cycle(const chip *c, const avr_int_vector_t *vector); /* CHIP_NEVER: it is not the receiver's */

/* eeprom.c */
void eeprom_init(chip *c);
void eeprom_after_reset(chip *c);
uint64_t eeprom_next(const chip *c);
void eeprom_due(chip *c, uint64_t cycle);
void eeprom_power_lost(chip *c);
void eeprom_reraise(chip *c, const avr_int_vector_t *vector);

#endif
