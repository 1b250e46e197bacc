/* Birth, running, resets and death of a chip; its clock and its log. See shim.h for the traps. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A burst of instructions ends at the next timer anyway, and the shim always has one. */
#define LONGEST_BURST CHIP_HZ

static void log_nothing(avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)avr; (void)level; (void)format; (void)arguments;
}

void chip_log(chip *c, uint64_t cycle, uint16_t kind, uint16_t pin, uint32_t value)
{
    if (c->event_count == c->event_room) {
        c->event_room = c->event_room ? 2 * c->event_room : 1024;
        c->events = realloc(c->events, c->event_room * sizeof *c->events);
        if (!c->events)
            abort();
    }
    /* A hardware-compare edge is logged with a cycle a few earlier than the instruction just done. */
    size_t at = c->event_count++;
    while (at > 0 && c->events[at - 1].cycle > cycle) {
        c->events[at] = c->events[at - 1];
        at--;
    }
    c->events[at] = (chip_event){ .cycle = cycle, .kind = kind, .pin = pin, .value = value };
}

size_t chip_events(chip *c, chip_event *out, size_t room)
{
    size_t count = c->event_count < room ? c->event_count : room;
    if (count)
        memcpy(out, c->events, count * sizeof *out);
    c->event_count -= count;
    if (c->event_count)
        memmove(c->events, c->events + count, c->event_count * sizeof *out);
    return count;
}

/* ---- what is due ----------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_due(const chip *c)
{
    return least(pins_next(c), least(uart_next(c), eeprom_next(c)));
}

static void do_due(chip *c, uint64_t until)
{
    uint64_t cycle;
    c->in_due = 1;
    while ((cycle = next_due(c)) <= until) {
        c->due_cycle = cycle;
        if (pins_next(c) == cycle)
            pins_due(c, cycle);
        else if (uart_next(c) == cycle)
            uart_due(c, cycle);
        else
            eeprom_due(c, cycle);
    }
    c->in_due = 0;
}

static avr_cycle_count_t due_timer(avr_t *avr, avr_cycle_count_t when, void *param)
{
    chip *c = param;
    (void)when;
    do_due(c, avr->cycle);
    uint64_t next = next_due(c);
    return next == CHIP_NEVER ? 0 : next;
}

void chip_arm(chip *c)
{
    avr_t *avr = c->avr;
    if (c->in_due || !c->running)
        return;
    uint64_t next = next_due(c);
    if (next == CHIP_NEVER)
        avr_cycle_timer_cancel(avr, due_timer, c);
    else
        avr_cycle_timer_register(avr, next > avr->cycle ? next - avr->cycle : 0, due_timer, c);
}

/* ---- the core -------------------------------------------------------------------------------------------------- */

void chip_stall(chip *c, unsigned cycles)
{
    avr_t *avr = c->avr;
    avr->cycle += cycles;
    avr->run_cycle_count = avr->run_cycle_count > cycles ? avr->run_cycle_count - cycles : 1;
}

void chip_set_handler(chip *c, uint16_t address, avr_io_write_t call, write_handler *before)
{
    int io = AVR_DATA_TO_IO(address);
    if (before)
        *before = (write_handler){ c->avr->io[io].w.c, c->avr->io[io].w.param };
    c->avr->io[io].w.c = call;
    c->avr->io[io].w.param = c;
}

uint8_t chip_written_ones(const chip *c, uint8_t value)
{
    /* simavr makes SBI read, or and write; on silicon it sets one bit and leaves the flags beside it alone. */
    const avr_t *avr = c->avr;
    uint16_t opcode = (uint16_t)(avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8);
    return (opcode & 0xFF00) == 0x9A00 ? (uint8_t)(1u << (opcode & 7)) : value;
}

static void sleep_at_once(avr_t *avr, avr_cycle_count_t how_long)
{
    chip *c = avr->custom.data;
    c->woken = 1;
    if (avr->data[REG_SMCR] & 0x0E)
        c->fault = CHIP_END_SLEEP_MODE;
    avr->cycle -= 1; /* simavr adds one more than it slept */
    if (c->stop_at_sent_byte && c->sent_flag)
        avr->cycle -= how_long; /* it goes on sleeping in the next run */
}

static void after_reset(chip *c)
{
    c->avr->run_cycle_limit = LONGEST_BURST;
    interrupts_after_reset(c);
    timers_after_reset(c);
    uart_after_reset(c);
    eeprom_after_reset(c);
    pins_after_reset(c, c->avr->cycle);
}

static void begin_reset(chip *c, int cause)
{
    avr_t *avr = c->avr;
    if (c->running)
        c->mcusr_kept = avr->data[REG_MCUSR];
    if (cause == CHIP_CAUSE_POWER_ON)
        c->mcusr_kept = 0;
    c->mcusr_kept |= (uint8_t)cause;
    c->cause = cause;
    c->running = 0;
    c->fault = 0;
    c->start_at = avr->cycle + c->startup_cycles;
    chip_log(c, avr->cycle, CHIP_EVENT_RESET, 0, (uint32_t)cause);
    avr->run = c->run_core;
    c->watchdog->reset_context.wdrf = 0;
    avr_reset(avr);
    after_reset(c);
}

static void start(chip *c)
{
    avr_t *avr = c->avr;
    /* While WDRF is set the watchdog is on, at its shortest: simavr's reset does it when told so. */
    if (c->mcusr_kept & CHIP_CAUSE_WATCHDOG) {
        c->watchdog->reset_context.wdrf = 1;
        c->watchdog->reset_context.avr_run = c->run_core;
    }
    if (c->cause == CHIP_CAUSE_POWER_ON) { /* registers and RAM hold what they will; other resets keep them */
        memset(avr->data, c->power_on_ram, 0x20);
        memset(avr->data + avr->ioend + 1, c->power_on_ram, avr->ramend - avr->ioend);
    }
    c->running = 1;
    c->start_at = CHIP_NEVER;
    c->woken = 0;
    avr_reset(avr);
    after_reset(c);
    avr->data[REG_MCUSR] = c->mcusr_kept;
    chip_log(c, avr->cycle, CHIP_EVENT_STARTED, 0, 0);
    chip_arm(c);
}

void chip_reset(chip *c, int cause)
{
    if (cause & (CHIP_CAUSE_POWER_ON | CHIP_CAUSE_BROWN_OUT))
        eeprom_power_lost(c);
    begin_reset(c, cause);
}

static avr_cycle_count_t stop_timer(avr_t *avr, avr_cycle_count_t when, void *param)
{
    (void)avr; (void)when; (void)param;
    return 0;
}

static void run_core_until(chip *c, uint64_t stop)
{
    avr_t *avr = c->avr;
    avr_cycle_timer_register(avr, stop - avr->cycle, stop_timer, c);
    while (avr->cycle < stop && c->running && !c->fault) {
        if (avr->run != c->run_core) { /* the watchdog has bitten */
            begin_reset(c, CHIP_CAUSE_WATCHDOG);
            return;
        }
        int state = avr_run(avr);
        if (state == cpu_Done)
            c->fault = CHIP_END_SLEEP_FOREVER;
        else if (state == cpu_Crashed)
            c->fault = CHIP_END_CRASHED;
        if (c->stop_at_sent_byte && c->sent_flag)
            break;
    }
    avr_cycle_timer_cancel(avr, stop_timer, c);
}

int chip_run(chip *c, uint64_t target_cycle, int stop_at_sent_byte)
{
    avr_t *avr = c->avr;
    c->sent_flag = 0;
    c->stop_at_sent_byte = stop_at_sent_byte;
    while (avr->cycle < target_cycle) {
        if (c->fault)
            return c->fault;
        if (stop_at_sent_byte && c->sent_flag)
            return CHIP_END_SENT;
        if (c->reset_at <= avr->cycle) {
            c->reset_at = CHIP_NEVER;
            chip_reset(c, c->reset_cause);
            continue;
        }
        uint64_t stop = least(target_cycle, c->reset_at);
        if (c->running) {
            run_core_until(c, stop);
            continue;
        }
        stop = least(stop, c->start_at);
        uint64_t due = next_due(c);
        avr->cycle = least(stop, due > avr->cycle ? due : avr->cycle);
        do_due(c, avr->cycle);
        if (avr->cycle >= c->start_at)
            start(c);
    }
    if (c->fault)
        return c->fault;
    return stop_at_sent_byte && c->sent_flag ? CHIP_END_SENT : CHIP_END_TARGET;
}

void chip_reset_at(chip *c, int cause, uint64_t cycle)
{
    c->reset_at = cycle;
    c->reset_cause = cause;
}

void chip_power_off(chip *c)
{
    eeprom_power_lost(c);
    chip_log(c, c->avr->cycle, CHIP_EVENT_POWER_OFF, 0, 0);
    c->running = 0;
    c->start_at = CHIP_NEVER;
    avr_reset(c->avr);
    after_reset(c);
}

/* ---- birth and death ------------------------------------------------------------------------------------------- */

/* Every 16-bit address, and the page that SPM may begin at the last of them (trap 11). */
#define REACH (0x10000u + 128u)

static uint8_t *within_reach(uint8_t *block, size_t used, uint8_t fill)
{
    block = realloc(block, REACH);
    if (!block)
        abort();
    memset(block + used, fill, REACH - used);
    return block;
}

static avr_io_t *find_part(avr_t *avr, const char *kind)
{
    for (avr_io_t *part = avr->io_port; part; part = part->next)
        if (!strcmp(part->kind, kind))
            return part;
    return NULL;
}

chip *chip_new(const char *elf_path, uint32_t line_baud, uint64_t startup_cycles, uint8_t power_on_ram)
{
    avr_global_logger_set(log_nothing);
    chip *c = calloc(1, sizeof *c);
    if (!c || elf_read_firmware(elf_path, &c->firmware)) {
        free(c);
        return NULL;
    }
    avr_t *avr = c->avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    avr->data = within_reach(avr->data, avr->ramend + 1u, 0);
    avr->flash = within_reach(avr->flash, avr->flashend + 3u, 0xFF); /* simavr keeps two bytes of its own there */
    if ((uint64_t)c->firmware.flashbase + c->firmware.flashsize > avr->flashend + 1u) {
        chip_free(c);
        return NULL;
    }
    avr_load_firmware(avr, &c->firmware);
    avr->frequency = CHIP_HZ;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr->custom.data = c;
    avr->sleep = sleep_at_once;
    c->run_core = avr->run;
    c->startup_cycles = startup_cycles;
    c->power_on_ram = power_on_ram;
    c->start_at = c->reset_at = CHIP_NEVER;
    c->watchdog = (avr_watchdog_t *)find_part(avr, "watchdog");
    c->uart.line_baud = line_baud;
    timers_init(c);
    pins_init(c);
    interrupts_init(c);
    uart_init(c);
    eeprom_init(c);
    after_reset(c);
    return c;
}

void chip_free(chip *c)
{
    avr_terminate(c->avr);
    for (uint32_t i = 0; i < c->firmware.symbolcount; i++)
        free(c->firmware.symbol[i]);
    free(c->firmware.symbol);
    free(c->firmware.flash);
    free(c->firmware.eeprom);
    free(c->firmware.fuse);
    free(c->firmware.lockbits);
    free(c->avr);
    free(c->events);
    free(c->changes);
    free(c->uart.queue);
    free(c);
}

uint64_t chip_cycle(const chip *c)
{
    return c->avr->cycle;
}

uint32_t chip_program_counter(const chip *c)
{
    return c->avr->pc;
}

uint8_t chip_data(const chip *c, uint16_t address)
{
    return address <= c->avr->ramend ? c->avr->data[address] : 0;
}

/* What is static in its file has a suffix behind a full stop, which optimisation at link time gave it. */
int64_t chip_symbol(const chip *c, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < c->firmware.symbolcount; i++) {
        const char *symbol = c->firmware.symbol[i]->symbol;
        if (!strncmp(symbol, name, length) && (symbol[length] == 0 || symbol[length] == '.'))
            return c->firmware.symbol[i]->addr;
    }
    return -1;
}
