/* The EEPROM with its true times (trap 9): 3.4 ms to erase and write a byte, 1.8 ms for either alone, during which EEPE
 * stands and the registers are locked. A reset lets the write end; a power loss leaves the byte damaged. */
#include <string.h>

#include "internal.h"

enum { EERE = 0x01, EEPE = 0x02, EEMPE = 0x04, EERIE = 0x08, EEPM = 0x30 };
enum { ERASE_AND_WRITE = 0, ERASE_ONLY = 1, WRITE_ONLY = 2 };

#define BOTH_CYCLES (CHIP_HZ / 10000 * 34)
#define ONE_CYCLES (CHIP_HZ / 10000 * 18)
#define READ_STALL 4
#define WRITE_STALL 2
#define MASTER_WINDOW 6 /* four cycles after the two of the SBI that opened it */

static uint8_t programmed(uint8_t before, uint8_t value, uint8_t mode)
{
    return mode == ERASE_AND_WRITE ? value : mode == ERASE_ONLY ? 0xFF : before & value;
}

void eeprom_reraise(chip *c, const avr_int_vector_t *vector)
{
    uint8_t control = c->avr->data[REG_EECR];
    if (vector == c->eeprom.ready && control & EERIE && !(control & EEPE))
        avr_raise_interrupt(c->avr, c->eeprom.ready);
}

static void write_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    struct eeprom *e = &c->eeprom;
    uint8_t before = avr->data[address], busy = before & EEPE;
    uint16_t cell = (uint16_t)((avr->data[REG_EEARL] | avr->data[REG_EEARH] << 8) % CHIP_EEPROM_BYTES);
    uint8_t mode_bits = busy ? before & EEPM : value & EEPM;
    avr->data[address] = (uint8_t)(mode_bits | (value & (EERIE | EEMPE)) | busy);
    if (value & EEPE && !busy && avr->cycle <= e->master_until) {
        e->address = cell;
        e->value = avr->data[REG_EEDR];
        e->mode = mode_bits >> 4;
        e->began = avr->cycle;
        e->done = avr->cycle + (e->mode == ERASE_AND_WRITE ? BOTH_CYCLES : ONE_CYCLES);
        e->master_until = 0;
        avr->data[address] = (uint8_t)((avr->data[address] | EEPE) & ~EEMPE);
        chip_stall(c, WRITE_STALL);
        chip_arm(c);
    } else if (value & EEMPE && !(before & EEMPE && avr->cycle <= e->master_until)) {
        e->master_until = avr->cycle + MASTER_WINDOW;
    }
    if (value & EERE && !busy) {
        avr->data[REG_EEDR] = e->bytes[cell];
        chip_stall(c, READ_STALL);
    }
    if (value & ~before & EERIE)
        eeprom_reraise(c, e->ready);
}

uint64_t eeprom_next(const chip *c)
{
    return c->eeprom.done;
}

void eeprom_due(chip *c, uint64_t cycle)
{
    struct eeprom *e = &c->eeprom;
    e->done = CHIP_NEVER;
    e->bytes[e->address] = programmed(e->bytes[e->address], e->value, e->mode);
    c->avr->data[REG_EECR] &= (uint8_t)~EEPE;
    chip_log(c, cycle, CHIP_EVENT_EEPROM, e->address, e->bytes[e->address]);
    eeprom_reraise(c, e->ready);
}

void eeprom_power_lost(chip *c)
{
    struct eeprom *e = &c->eeprom;
    if (e->done == CHIP_NEVER)
        return;
    /* First half of an erase-and-write: erased. Second half, or a write alone: some bits not yet pulled down. */
    int erasing = e->mode != WRITE_ONLY && c->avr->cycle - e->began < ONE_CYCLES;
    uint8_t cell = e->mode == WRITE_ONLY ? e->bytes[e->address] : 0xFF;
    e->bytes[e->address] = erasing ? 0xFF : cell & (e->value | 0x55);
    e->done = CHIP_NEVER;
    chip_log(c, c->avr->cycle, CHIP_EVENT_EEPROM, e->address, e->bytes[e->address]);
}

void eeprom_init(chip *c)
{
    for (avr_io_t *part = c->avr->io_port; part; part = part->next)
        if (!strcmp(part->kind, "eeprom"))
            c->eeprom.ready = &((avr_eeprom_t *)part)->ready;
    memset(c->eeprom.bytes, 0xFF, sizeof c->eeprom.bytes);
    c->eeprom.done = CHIP_NEVER;
    chip_set_handler(c, REG_EECR, write_control, NULL);
}

void eeprom_after_reset(chip *c)
{
    c->eeprom.master_until = 0;
    if (c->eeprom.done != CHIP_NEVER)
        c->avr->data[REG_EECR] |= EEPE;
}

void chip_eeprom_read(const chip *c, uint8_t *out)
{
    memcpy(out, c->eeprom.bytes, sizeof c->eeprom.bytes);
}

void chip_eeprom_write(chip *c, const uint8_t *bytes)
{
    memcpy(c->eeprom.bytes, bytes, sizeof c->eeprom.bytes);
}
