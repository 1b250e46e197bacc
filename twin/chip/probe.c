/* What a debugger with its probe on the chip can do; none of it is the firmware's doing. */
#include <string.h>

#include "internal.h"

int chip_asleep(const chip *c)
{
    return c->running && c->avr->state == cpu_Sleeping;
}

void chip_hang(chip *c, int interrupts_off)
{
    /* CLI, RJMP to itself: in the last words of the flash, where no program reaches. */
    static const uint8_t trap[] = { 0xF8, 0x94, 0xFF, 0xCF };
    uint32_t at = c->avr->flashend - 5u;
    memcpy(c->avr->flash + at, trap, sizeof trap);
    c->avr->pc = interrupts_off ? at : at + 2u;
    if (chip_asleep(c))
        c->avr->state = cpu_Running;
}

void chip_poke(chip *c, uint16_t address, uint8_t value)
{
    if (address <= c->avr->ramend)
        c->avr->data[address] = value;
}

void chip_freeze(chip *c, uint32_t cycles)
{
    chip_stall(c, cycles);
}

void chip_log_interrupts(chip *c, int on)
{
    c->log_interrupts = on;
}
