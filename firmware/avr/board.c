/* The core on an ATmega328P at 16 MHz, as it sits on an Arduino Uno.
 *
 * What must be at once happens in interrupts: the emergency stop, the key, the lane and a stop byte switch the trigger
 * off; the last byte of the right fire command switches it on. They are all short, because each may have to wait for
 * one of the others. Everything else is cannon_step in the main loop, which sleeps until something is to be done. */
#include "board.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <stddef.h>
#include <util/atomic.h>

#include "cannon.h"
#include "check.h"
#include "kept.h"
#include "out_of_line.h"
#include "pins.h"
#include "servos.h"

#define PERIOD_US 20000u

/* The line's speed is compiled in: `make BAUD=250000`. */
#ifndef LINE_BAUD
#define LINE_BAUD WIRE_BAUD
#endif
#define UBRR ((F_CPU / 4ul / LINE_BAUD - 1ul) / 2ul) /* double speed: 8 clocks a bit and count, to the nearest */
#define REAL_BAUD (F_CPU / 8ul / (UBRR + 1ul))
CHECK_COMPILE_TIME(baud_near_enough, REAL_BAUD * 1000ul < LINE_BAUD * 1022ul && REAL_BAUD * 1000ul > LINE_BAUD * 978ul);

static struct cannon cannon;

/* One bit register that interrupts can set in a single instruction. */
#define WORK GPIOR0
#define WORK_TICK 0
#define WORK_PULLED 1 /* by the first instructions of the receive interrupt, for what follows them */

/* The receive interrupt's first instructions leave these for what follows them. */
#define RECEIVED_STATUS GPIOR1
#define RECEIVED_BYTE GPIOR2

static uint32_t period_start_us;         /* of the period that was the present one when the main loop looked last */
static volatile uint8_t periods_passed;  /* since then */

/* Kept over every reset but a loss of supply: start-up code leaves .noinit alone. */
static struct kept kept[2] __attribute__((section(".noinit")));
static struct history history __attribute__((section(".noinit")));
static uint8_t reset_flags __attribute__((section(".noinit")));

/* The watchdog stays on after its reset, with the shortest time: it must be stopped before start-up code has run. */
void early(void) __attribute__((naked, used, section(".init3")));
void early(void)
{
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

uint8_t board_kind(void) { return WIRE_BOARD_UNO; }

uint8_t board_lock(void)
{
    uint8_t before = SREG;
    cli();
    return before;
}

void board_unlock(uint8_t before)
{
    __asm__ volatile("" ::: "memory");
    SREG = before;
}

struct history *board_history(void) { return &history; }

bool board_eeprom_ready(void) { return !(EECR & _BV(EEPE)); }

uint8_t board_eeprom_read(uint16_t address)
{
    EEAR = address;
    EECR |= _BV(EERE);
    return EEDR;
}

void board_eeprom_write(uint16_t address, uint8_t byte)
{
    EEAR = address;
    EEDR = byte;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        EECR |= _BV(EEMPE);
        EECR |= _BV(EEPE); /* within four cycles of the line before */
    }
}

/* A moment, to be turned into microseconds later. */
struct moment {
    uint16_t ticks;  /* of 0.5 us, since the period began */
    uint8_t periods; /* since period_start_us */
};

/* Interrupts off. */
static inline __attribute__((always_inline)) struct moment now(void)
{
    uint16_t ticks = TCNT1;
    uint8_t periods = periods_passed;
    if ((TIFR1 & _BV(TOV1)) && ticks < PERIOD_US) {
        periods++; /* a period has ended whose interrupt is yet to come */
    }
    return (struct moment){.ticks = ticks, .periods = periods};
}

static OUT_OF_LINE uint32_t time_us(struct moment moment)
{
    uint32_t us = period_start_us + moment.ticks / 2u;
    for (; moment.periods != 0; moment.periods--) {
        us += PERIOD_US;
    }
    return us;
}

static struct moment received_at;

/* When a barrier of the muzzle gate became free. */
struct edge {
    struct moment at;
    volatile bool seen;
};

static struct edge left_first, left_second;
static uint8_t gate_before;

uint32_t board_interrupt_time_us(void) { return time_us(received_at); }

/* At least every 255 periods. Nothing long is done with interrupts off. An edge that waits to be taken was written down by
 * the period that counts then, which stays the present one until the edge is taken: by the next step. */
static uint32_t now_us(void)
{
    struct moment moment = {0};
    bool moved;
    do {
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            moved = periods_passed != 0 && !left_first.seen && !left_second.seen;
            if (moved) {
                periods_passed--;
                period_start_us += PERIOD_US;
            }
        }
    } while (moved);
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { moment = now(); }
    return time_us(moment);
}

/* ---- Interrupts ---- */

ISR(INT0_vect) { guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_ESTOP_OK_MASK); }

ISR(INT1_vect) { guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_KEY_ON_MASK); }

/* The receive interrupt begins with what a shot waits for: guard_receive's question, and the pin, by hand and with two
 * registers saved. All else is done behind it, by the compiler's own means. */
ISR(USART_RX_vect, ISR_NAKED)
{
    __asm__ volatile("push r24\n\t"
                     "in r24, __SREG__\n\t"
                     "push r24\n\t"
                     "push r25\n\t"
                     "lds r24, %[status]\n\t"
                     "out %[kept_status], r24\n\t"
                     "lds r24, %[data]\n\t"
                     "out %[kept_data], r24\n\t"
                     "cpi r24, %[flag]\n\t"
                     "brne 1f\n\t"
                     "lds r24, %[primed]\n\t"
                     "lds r25, %[live]\n\t"
                     "and r24, r25\n\t"
                     "breq 1f\n\t"
                     "lds r24, %[sequence]\n\t"
                     "lds r25, %[next]\n\t"
                     "cp r24, r25\n\t"
                     "brne 1f\n\t"
                     "in r24, %[d]\n\t"
                     "andi r24, %[d_mask]\n\t"
                     "brne 1f\n\t"
                     "in r24, %[c]\n\t"
                     "andi r24, %[c_mask]\n\t"
                     "cpi r24, %[c_level]\n\t"
                     "brne 1f\n\t"
                     "sbi %[port], %[trigger]\n\t"
                     "sbi %[work], %[pulled]\n"
                     "1:\tpop r25\n\t"
                     "pop r24\n\t"
                     "out __SREG__, r24\n\t"
                     "pop r24\n\t"
                     "jmp __vector_received" ::[status] "n"(_SFR_MEM_ADDR(UCSR0A)),
                     [kept_status] "I"(_SFR_IO_ADDR(RECEIVED_STATUS)), [data] "n"(_SFR_MEM_ADDR(UDR0)),
                     [kept_data] "I"(_SFR_IO_ADDR(RECEIVED_BYTE)), [flag] "M"(WIRE_FLAG),
                     [primed] "i"(&cannon.receiver.primed), [live] "i"(&cannon.receiver.fuse_live),
                     [sequence] "i"(&cannon.receiver.sequence), [next] "i"(&cannon.receiver.fuse_sequence),
                     [d] "I"(_SFR_IO_ADDR(PIND)), [d_mask] "M"(PINS_D_LOW), [c] "I"(_SFR_IO_ADDR(PINC)),
                     [c_mask] "M"(PINS_C), [c_level] "M"(PINS_C_HIGH), [port] "I"(_SFR_IO_ADDR(PORTD)),
                     [trigger] "I"(PIN_TRIGGER), [work] "I"(_SFR_IO_ADDR(WORK)), [pulled] "I"(WORK_PULLED));
}

void __vector_received(void) __attribute__((signal, used, externally_visible));
void __vector_received(void)
{
    uint8_t byte = RECEIVED_BYTE;
    uint8_t status = RECEIVED_STATUS;
    bool pulled = WORK & _BV(WORK_PULLED);
    WORK &= (uint8_t)~_BV(WORK_PULLED);
    if (byte == WIRE_STOP) {
        board_drop_trigger();
    }
    if (pulled) {
        received_at = now();
    }
    /* What is left takes long enough to hold up the emergency stop. The next byte waits in the hardware meanwhile. */
    UCSR0B &= (uint8_t)~_BV(RXCIE0);
    sei();
    guard_obey(&cannon.guard, &cannon.receiver, byte, pulled);
    receiver_take(&cannon.receiver, byte);
    if (status & _BV(DOR0)) {
        cannon.receiver.lost |= WIRE_LOSS_HARDWARE_MASK;
    }
    if (status & _BV(FE0)) {
        cannon.receiver.lost |= WIRE_LOSS_FRAMING_MASK;
    }
    cli();
    UCSR0B |= _BV(RXCIE0);
}

/* Off while it works, so that others may interrupt it. */
ISR(USART_UDRE_vect)
{
    UCSR0B &= (uint8_t)~_BV(UDRIE0);
    sei();
    if (!outbox_empty(&cannon.outbox)) {
        UDR0 = outbox_take(&cannon.outbox);
        cli();
        UCSR0B |= _BV(UDRIE0);
    }
}

/* Lane and muzzle gate. A shot leaves a barrier when the barrier is no longer blocked. */
ISR(PCINT1_vect)
{
    struct moment moment = now();
    uint8_t pins = PINC;
    if (pins & _BV(PIN_LANE)) {
        guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_LANE_CLEAR_MASK);
    }
    uint8_t left = gate_before & (uint8_t)~pins;
    gate_before = pins;
    if (left & _BV(PIN_GATE_FIRST)) {
        left_first = (struct edge){.at = moment, .seen = true};
    }
    if (left & _BV(PIN_GATE_SECOND)) {
        left_second = (struct edge){.at = moment, .seen = true};
    }
}

/* A period of 20 ms is over: it is counted, and then others may interrupt, for a fire command would have to wait. */
ISR(TIMER1_OVF_vect, ISR_NAKED)
{
    __asm__ volatile("push r24\n\t"
                     "in r24, __SREG__\n\t"
                     "push r24\n\t"
                     "lds r24, %[passed]\n\t"
                     "inc r24\n\t"
                     "sts %[passed], r24\n\t"
                     "pop r24\n\t"
                     "out __SREG__, r24\n\t"
                     "pop r24\n\t"
                     "jmp __vector_period" ::[passed] "i"(&periods_passed));
}

/* `interrupt`: it begins with SEI. Nothing in it is shared but single bytes. */
void __vector_period(void) __attribute__((interrupt, used, externally_visible));
void __vector_period(void)
{
    guard_period(&cannon.guard);
    servos_period();
}

/* Wakes the main loop every millisecond. */
ISR(TIMER2_COMPA_vect, ISR_NAKED)
{
    WORK |= _BV(WORK_TICK); /* one instruction, and it changes no flag */
    reti();
}

/* ---- Main loop ---- */

static uint8_t levels(void)
{
    uint8_t d = PIND;
    uint8_t c = PINC;
    uint8_t bits = 0;
    if (!(d & _BV(PIN_ESTOP))) {
        bits |= WIRE_INPUT_ESTOP_OK_MASK;
    }
    if (!(d & _BV(PIN_KEY))) {
        bits |= WIRE_INPUT_KEY_ON_MASK;
    }
    if (!(c & _BV(PIN_LEVER_DRAWN))) {
        bits |= WIRE_INPUT_LEVER_DRAWN_MASK;
    }
    if (!(c & _BV(PIN_LEVER_LATCHED))) {
        bits |= WIRE_INPUT_LEVER_LATCHED_MASK;
    }
    if (c & _BV(PIN_GATE_FIRST)) {
        bits |= WIRE_INPUT_GATE_FIRST_BLOCKED_MASK;
    }
    if (c & _BV(PIN_GATE_SECOND)) {
        bits |= WIRE_INPUT_GATE_SECOND_BLOCKED_MASK;
    }
    if (!(c & _BV(PIN_LANE))) {
        bits |= WIRE_INPUT_LANE_CLEAR_MASK;
    }
    return bits;
}

static OUT_OF_LINE void take_edge(struct edge *edge, struct cannon_edge *taken)
{
    taken->seen = edge->seen;
    if (taken->seen) {
        struct moment at = {0};
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            at = edge->at;
            edge->seen = false;
        }
        taken->time_us = time_us(at);
        taken->half_us = at.ticks & 1u;
    }
}

static void gather(struct cannon_inputs *inputs)
{
    take_edge(&left_first, &inputs->left_first);
    take_edge(&left_second, &inputs->left_second);
    inputs->levels = levels();
    inputs->now_us = now_us();
}

static void apply(const struct cannon_outputs *outputs)
{
    static uint16_t applied_ticks[WIRE_AXIS_COUNT];
    guard_apply(&cannon.guard, &cannon.receiver, outputs->trigger, outputs->loader);
    if (outputs->armed_lamp) {
        PORTB |= _BV(PIN_LAMP);
    } else {
        PORTB &= (uint8_t)~_BV(PIN_LAMP);
    }
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        if (outputs->pulse_ticks[i] != applied_ticks[i] && servos_set(i, outputs->pulse_ticks[i])) {
            applied_ticks[i] = outputs->pulse_ticks[i];
        }
    }
    if (!outbox_empty(&cannon.outbox)) {
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { UCSR0B |= _BV(UDRIE0); }
    }
}

static void start_pins(void)
{
    PORTD = _BV(PIN_ESTOP) | _BV(PIN_KEY); /* outputs low, pull-ups on */
    DDRD = _BV(PIN_TRIGGER) | _BV(PIN_TRAVERSE) | _BV(PIN_DRAW) | _BV(PIN_LATCH);
    PORTB = 0;
    DDRB = _BV(PIN_AZIMUTH) | _BV(PIN_ELEVATION) | _BV(PIN_LOADER) | _BV(PIN_LAMP);
    PORTC = _BV(PIN_GATE_FIRST) | _BV(PIN_GATE_SECOND) | _BV(PIN_LEVER_DRAWN) | _BV(PIN_LEVER_LATCHED) | _BV(PIN_LANE);
    DDRC = 0;
}

static void start_interrupts(void)
{
    EICRA = _BV(ISC01) | _BV(ISC00) | _BV(ISC11) | _BV(ISC10); /* rising: a circuit opens */
    EIMSK = _BV(INT0) | _BV(INT1);
    PCMSK1 = _BV(PIN_GATE_FIRST) | _BV(PIN_GATE_SECOND) | _BV(PIN_LANE);
    PCICR = _BV(PCIE1);
    UCSR0A = _BV(U2X0);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UBRR0 = UBRR;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR2A = _BV(WGM21);
    OCR2A = 249; /* 16 MHz / 64 / 250 = 1 kHz */
    TCCR2B = _BV(CS22);
    TIMSK2 = _BV(OCIE2A);
}

static uint8_t reset_cause(void)
{
    if (reset_flags & _BV(PORF)) {
        return WIRE_RESET_CAUSE_POWER_ON;
    }
    if (reset_flags & _BV(BORF)) {
        return WIRE_RESET_CAUSE_BROWN_OUT;
    }
    return reset_flags & _BV(WDRF) ? WIRE_RESET_CAUSE_WATCHDOG : WIRE_RESET_CAUSE_EXTERNAL;
}

static bool something_to_do(void)
{
    return (WORK & _BV(WORK_TICK)) || cannon.receiver.head != cannon.receiver.tail || cannon.receiver.stopped ||
           cannon.receiver.fuse_fired || cannon.guard.lost || cannon.guard.hold_expired;
}

static void sleep_until_work(void)
{
    cli();
    while (!something_to_do()) {
        sei(); /* takes effect after the next instruction, so no interrupt can slip in between */
        sleep_cpu();
        __asm__ volatile("nop"); /* room for a second interrupt that came during the first one */
        cli();
    }
    WORK &= (uint8_t)~_BV(WORK_TICK);
    sei();
}

int main(void)
{
    start_pins();
    wdt_enable(WDTO_60MS);
    cannon_start(&cannon, reset_cause(), kept_read(kept, reset_flags & _BV(PORF)));
    kept_write(kept, &cannon); /* the next reset may come before the first step */
    servos_start();
    gate_before = PINC;
    start_interrupts();
    SMCR = _BV(SE); /* idle */
    sei();
    for (;;) {
        struct cannon_inputs inputs;
        wdt_reset();
        gather(&inputs);
        cannon_step(&cannon, &inputs);
        apply(&cannon.outputs);
        kept_write(kept, &cannon);
        sleep_until_work();
    }
}
