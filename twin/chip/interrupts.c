/* Interrupts as silicon has them: what entering costs (trap 9), flags cleared by writing a one to them and to no
 * other, and a flag that stands raises its interrupt when it is enabled. */
#include <simavr/avr_extint.h>

#include "internal.h"

#define ENTRY_CYCLES 4
#define WAKE_CYCLES 4
/* An instruction, and the entry of another interrupt from sleep. */
#define LONGEST_NOTICE 16

static const uint16_t flag_registers[] = { REG_TIFR0, REG_TIFR1, REG_TIFR2, REG_PCIFR, REG_EIFR };
static const uint16_t mask_registers[] = { REG_TIMSK0, REG_TIMSK1, REG_TIMSK2, REG_PCICR, REG_EIMSK };

static int jump_cycles(const avr_t *avr)
{
    return (avr->flash[avr->pc + 1] & 0xFE) == 0x94 ? 3 : 2; /* JMP or RJMP, with which the vector begins */
}

/* The cycle at which the flag that has just been seen rose: the core notices at the end of an instruction. */
static uint64_t flag_cycle(const chip *c, const avr_int_vector_t *vector)
{
    uint64_t now = c->avr->cycle, exact = c->in_due ? c->due_cycle : timers_flag_cycle(c, vector);
    return exact <= now && now - exact < LONGEST_NOTICE ? exact : now;
}

static void on_pending(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    vector_ref *ref = param;
    if (value && avr_regbit_get(ref->owner->avr, ref->vector->enable))
        ref->pending_since = flag_cycle(ref->owner, ref->vector);
}

static void on_vector(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    vector_ref *ref = param;
    chip *c = ref->owner;
    if (value) {
        chip_stall(c, ENTRY_CYCLES + (c->woken ? WAKE_CYCLES : 0));
        c->woken = 0;
        if (c->log_interrupts) {
            uint64_t since = uart_flag_cycle(c, ref->vector), begun = c->avr->cycle + jump_cycles(c->avr);
            since = since == CHIP_NEVER ? ref->pending_since : since;
            chip_log(c, begun, CHIP_EVENT_INTERRUPT, ref->vector->vector, (uint32_t)(begun - since));
        }
    } else { /* RETI: interrupts that stand for a state come again for as long as it lasts */
        uart_reraise(c, ref->vector);
        eeprom_reraise(c, ref->vector);
    }
}

static void write_flags(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    uint8_t ones = chip_written_ones(c, value);
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        if (vector->raised.reg == address && ones & 1u << vector->raised.bit) {
            avr_clear_interrupt(avr, vector);
            avr_regbit_clear(avr, vector->raised);
        }
    }
}

static void write_mask(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    (void)param;
    uint8_t enabled = value & (uint8_t)~avr->data[address];
    avr->data[address] = value;
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        if (vector->enable.reg == address && enabled & 1u << vector->enable.bit && avr_regbit_get(avr, vector->raised))
            avr_raise_interrupt(avr, vector);
    }
}

void interrupts_init(chip *c)
{
    avr_t *avr = c->avr;
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        c->vectors[i] = (vector_ref){ .owner = c, .vector = avr->interrupts.vector[i] };
        avr_irq_register_notify(avr->interrupts.vector[i]->irq + AVR_INT_IRQ_PENDING, on_pending, &c->vectors[i]);
        avr_irq_register_notify(avr->interrupts.vector[i]->irq + AVR_INT_IRQ_RUNNING, on_vector, &c->vectors[i]);
    }
    for (size_t i = 0; i < sizeof flag_registers / sizeof *flag_registers; i++) {
        chip_set_handler(c, flag_registers[i], write_flags, NULL);
        chip_set_handler(c, mask_registers[i], write_mask, NULL);
    }
}

void interrupts_after_reset(chip *c)
{
    avr_extint_set_strict_lvl_trig(c->avr, 0, 0);
    avr_extint_set_strict_lvl_trig(c->avr, 1, 0);
}
