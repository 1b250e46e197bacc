/* Levels of the pins, seen from outside and from inside (traps 2, 3 and 4). simavr's own pin IRQs are fed from here,
 * since its external and pin-change interrupts hang on them. */
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_ioport.h>

#include "internal.h"

enum { PIN = 0, DDR = 1, PORT = 2 };

static uint16_t reg(int port, int which)
{
    return (uint16_t)(REG_PINB + 3 * port + which);
}

void pins_refresh(chip *c, uint64_t cycle)
{
    const uint8_t *data = c->avr->data;
    for (int p = 0; p < CHIP_PORTS; p++) {
        uint8_t driven = data[reg(p, DDR)], latch = data[reg(p, PORT)], out = latch;
        for (int bit = 0; bit < 8; bit++) {
            uint8_t level;
            if (driven & 1u << bit && timers_compare_drives(c, p, bit, &level))
                out = (uint8_t)((out & ~(1u << bit)) | (unsigned)level << bit);
        }
        uint8_t mask = c->outside_mask[p];
        uint8_t floating = (uint8_t)((mask & c->outside_level[p]) | (~mask & latch)); /* latch: the pull-up */
        uint8_t seen = driven & out;
        uint8_t inside = (uint8_t)((driven & out) | (~driven & floating));
        uint8_t seen_change = seen ^ c->seen[p], inside_change = inside ^ c->inside[p];
        c->seen[p] = seen;
        c->inside[p] = inside;
        for (int bit = 0; bit < 8; bit++) {
            if (seen_change & 1u << bit)
                chip_log(c, cycle, CHIP_EVENT_PIN, (uint16_t)(8 * p + bit), seen >> bit & 1u);
            if (inside_change & 1u << bit)
                avr_raise_irq(c->pin_irq[p] + bit, inside >> bit & 1u);
        }
    }
}

static uint8_t read_pins(avr_t *avr, avr_io_addr_t address, void *param)
{
    chip *c = param;
    return avr->data[address] = c->inside[(address - REG_PINB) / 3];
}

static void write_port_register(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    int p = (address - REG_PINB) / 3, which = (address - REG_PINB) % 3;
    if (which == PIN)
        value = chip_written_ones(c, value);
    write_handler *before = &c->port_write[p][which];
    before->call(avr, address, value, before->param);
    pins_refresh(c, avr->cycle);
}

static void tell_simavr(chip *c, int p)
{
    avr_ioport_external_t external = {
        .mask = c->outside_mask[p],
        .value = c->outside_level[p],
    };
    avr_ioctl(c->avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('B' + p), &external);
}

void pins_init(chip *c)
{
    for (int p = 0; p < CHIP_PORTS; p++) {
        c->pin_irq[p] = avr_io_getirq(c->avr, AVR_IOCTL_IOPORT_GETIRQ('B' + p), 0);
        for (int which = 0; which < 3; which++)
            chip_set_handler(c, reg(p, which), write_port_register, &c->port_write[p][which]);
        c->avr->io[AVR_DATA_TO_IO(reg(p, PIN))].r.c = read_pins;
        c->avr->io[AVR_DATA_TO_IO(reg(p, PIN))].r.param = c;
    }
}

void pins_after_reset(chip *c, uint64_t cycle)
{
    pins_refresh(c, cycle);
}

/* ---- what the world outside does ------------------------------------------------------------------------------- */

uint64_t pins_next(const chip *c)
{
    return c->change_count ? c->changes[0].cycle : CHIP_NEVER;
}

void pins_due(chip *c, uint64_t cycle)
{
    pin_change change = c->changes[0];
    memmove(c->changes, c->changes + 1, --c->change_count * sizeof *c->changes);
    int p = change.pin / 8;
    uint8_t bit = (uint8_t)(1u << change.pin % 8);
    c->outside_mask[p] = (uint8_t)(change.level < 0 ? c->outside_mask[p] & ~bit : c->outside_mask[p] | bit);
    c->outside_level[p] = (uint8_t)(change.level > 0 ? c->outside_level[p] | bit : c->outside_level[p] & ~bit);
    tell_simavr(c, p);
    pins_refresh(c, cycle);
}

void chip_drive(chip *c, int pin, int level, uint64_t cycle)
{
    if (cycle < c->avr->cycle)
        cycle = c->avr->cycle;
    if (c->change_count == c->change_room) {
        c->change_room = c->change_room ? 2 * c->change_room : 64;
        c->changes = realloc(c->changes, c->change_room * sizeof *c->changes);
        if (!c->changes)
            abort();
    }
    size_t at = c->change_count++;
    while (at > 0 && c->changes[at - 1].cycle > cycle) {
        c->changes[at] = c->changes[at - 1];
        at--;
    }
    c->changes[at] = (pin_change){ .cycle = cycle, .pin = (int16_t)pin, .level = (int16_t)level };
    chip_arm(c);
}

int chip_output(const chip *c, int pin)
{
    return c->seen[pin / 8] >> pin % 8 & 1;
}

int chip_pin_driven(const chip *c, int pin)
{
    return c->avr->data[reg(pin / 8, DDR)] >> pin % 8 & 1;
}
