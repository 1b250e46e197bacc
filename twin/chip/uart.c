/* The USART in asynchronous mode, 8 data bits, no parity, one stop bit, in place of simavr's (trap 5).
 *
 * Receiving: the line sends bytes at its own rate; the chip samples each bit in the middle of where it takes the bit
 * to be, so a wrong UBRR gives wrong bytes and framing errors as it would on a wire. RXC is set when the stop bit is
 * sampled. Two bytes wait in the FIFO and one in the shift register; the start bit of a fourth loses the third.
 * Sending: UDR and the shift register. What arrives outside is sampled at the line's rate likewise. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { RXC = 0x80, TXC = 0x40, UDRE = 0x20, FE = 0x10, DOR = 0x08, U2X = 0x02, MPCM = 0x01 };
enum { RXCIE = 0x80, TXCIE = 0x40, UDRIE = 0x20, RXEN = 0x10, TXEN = 0x08 };

#define FRAME_BITS 10
#define FORMAT_8N1 0x06

static uint64_t chip_bit_cycles(const chip *c)
{
    const uint8_t *data = c->avr->data;
    uint64_t divider = (data[REG_UBRR0L] | (uint64_t)(data[REG_UBRR0H] & 0x0F) << 8) + 1;
    return divider * (data[REG_UCSR0A] & U2X ? 8 : 16);
}

/* What a receiver whose bit lasts `receiver` hears of a byte whose bit lasts `sender` (any one unit of time). */
static uint8_t hear(uint8_t byte, uint64_t sender, uint64_t receiver, uint8_t *framing_error)
{
    unsigned frame = 0x200u | (unsigned)byte << 1, heard = 0; /* start bit 0, data, stop bit 1; then idle, 1 */
    for (unsigned bit = 1; bit < FRAME_BITS; bit++) {
        uint64_t at = (2 * bit + 1) * receiver / (2 * sender);
        heard |= (at < FRAME_BITS ? frame >> at & 1u : 1u) << bit;
    }
    *framing_error = !(heard & 0x200u);
    return (uint8_t)(heard >> 1);
}

static void set_status(chip *c, uint8_t set, uint8_t clear)
{
    uint8_t *status = &c->avr->data[REG_UCSR0A];
    *status = (uint8_t)((*status & ~clear) | set);
}

static void raise_if(chip *c, avr_int_vector_t *vector, uint8_t flag)
{
    if (c->avr->data[REG_UCSR0A] & flag)
        avr_raise_interrupt(c->avr, vector);
}

static void drop(chip *c, avr_int_vector_t *vector, uint8_t flag)
{
    avr_clear_interrupt(c->avr, vector);
    set_status(c, 0, flag);
}

void uart_reraise(chip *c, const avr_int_vector_t *vector)
{
    uint8_t enabled = c->avr->data[REG_UCSR0B];
    if (vector == c->uart.received && enabled & RXCIE)
        raise_if(c, c->uart.received, RXC);
    else if (vector == c->uart.emptied && enabled & UDRIE)
        raise_if(c, c->uart.emptied, UDRE);
}

uint64_t uart_flag_cycle(const chip *c, const avr_int_vector_t *vector)
{
    return vector == c->uart.received && c->uart.fifo_count ? c->uart.fifo_came[0] : CHIP_NEVER;
}

/* ---- receiver -------------------------------------------------------------------------------------------------- */

static void into_fifo(chip *c, uint8_t byte, uint8_t framing_error, uint64_t came)
{
    struct uart *u = &c->uart;
    u->fifo[u->fifo_count] = byte;
    u->fifo_came[u->fifo_count] = came;
    u->fifo_framing_error[u->fifo_count++] = framing_error;
    set_status(c, u->fifo_framing_error[0] ? FE : 0, FE);
    avr_raise_interrupt(c->avr, u->received);
}

static uint64_t next_start(const chip *c)
{
    const struct uart *u = &c->uart;
    return (u->line_free_scaled + u->line_baud - 1) / u->line_baud;
}

static void line_starts_byte(chip *c, uint64_t cycle)
{
    struct uart *u = &c->uart;
    uint64_t bit = chip_bit_cycles(c);
    u->byte_value = hear(u->queue[u->queue_head++], CHIP_HZ, bit * u->line_baud, &u->byte_framing_error);
    if (u->queue_head == u->queue_tail)
        u->queue_head = u->queue_tail = 0;
    u->line_free_scaled += (uint64_t)FRAME_BITS * CHIP_HZ;
    if (!c->running || !(c->avr->data[REG_UCSR0B] & RXEN))
        return; /* nobody listens */
    if ((c->avr->data[REG_UCSR0C] & 0x3E) != FORMAT_8N1)
        u->byte_framing_error = 1;
    if (u->shift_full) {
        chip_log(c, cycle, CHIP_EVENT_OVERRUN, 0, u->shift);
        u->shift_full = 0;
        set_status(c, DOR, 0);
    }
    u->byte_done = cycle + (2 * FRAME_BITS - 1) * bit / 2;
}

static void line_ends_byte(chip *c, uint64_t cycle)
{
    struct uart *u = &c->uart;
    u->byte_done = CHIP_NEVER;
    chip_log(c, cycle, CHIP_EVENT_RECEIVED, 0, u->byte_value);
    if (u->fifo_count < 2) {
        into_fifo(c, u->byte_value, u->byte_framing_error, cycle);
    } else {
        u->shift = u->byte_value;
        u->shift_framing_error = u->byte_framing_error;
        u->shift_came = cycle;
        u->shift_full = 1;
    }
}

static uint8_t read_data(avr_t *avr, avr_io_addr_t address, void *param)
{
    chip *c = param;
    struct uart *u = &c->uart;
    uint8_t byte = u->fifo[0];
    (void)address;
    if (!u->fifo_count)
        return byte;
    u->fifo[0] = u->fifo[1];
    u->fifo_came[0] = u->fifo_came[1];
    u->fifo_framing_error[0] = u->fifo_framing_error[1];
    u->fifo_count--;
    set_status(c, u->fifo_count && u->fifo_framing_error[0] ? FE : 0, FE | DOR);
    if (u->shift_full) {
        u->shift_full = 0;
        into_fifo(c, u->shift, u->shift_framing_error, u->shift_came);
    }
    if (!u->fifo_count)
        drop(c, u->received, RXC);
    return avr->data[REG_UDR0] = byte;
}

static void flush_receiver(chip *c)
{
    c->uart.fifo_count = c->uart.shift_full = 0;
    c->uart.byte_done = CHIP_NEVER;
    drop(c, c->uart.received, RXC | FE | DOR);
}

/* ---- transmitter ----------------------------------------------------------------------------------------------- */

static void send_byte(chip *c, uint8_t byte, uint64_t cycle)
{
    c->uart.sending = byte;
    c->uart.send_bit = chip_bit_cycles(c);
    c->uart.send_done = cycle + FRAME_BITS * c->uart.send_bit;
}

static void byte_sent(chip *c, uint64_t cycle)
{
    struct uart *u = &c->uart;
    uint8_t framing_error;
    uint8_t heard = hear(u->sending, u->send_bit * u->line_baud, CHIP_HZ, &framing_error);
    chip_log(c, cycle, CHIP_EVENT_SENT, framing_error, heard);
    c->sent_flag = 1;
    u->send_done = CHIP_NEVER;
    if (u->buffer_full) {
        u->buffer_full = 0;
        send_byte(c, u->buffer, cycle);
        avr_raise_interrupt(c->avr, u->emptied);
    } else {
        avr_raise_interrupt(c->avr, u->sent);
    }
}

static void write_data(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    struct uart *u = &c->uart;
    (void)address;
    if (!(avr->data[REG_UCSR0B] & TXEN) || u->buffer_full)
        return;
    if (u->send_done == CHIP_NEVER) {
        send_byte(c, value, avr->cycle);
        uart_reraise(c, u->emptied);
    } else {
        u->buffer = value;
        u->buffer_full = 1;
        drop(c, u->emptied, UDRE);
    }
    chip_arm(c);
}

/* ---- registers ------------------------------------------------------------------------------------------------- */

static void write_status(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    (void)address;
    if (value & TXC)
        drop(c, c->uart.sent, TXC);
    avr->data[REG_UCSR0A] = (uint8_t)((avr->data[REG_UCSR0A] & ~(U2X | MPCM)) | (value & (U2X | MPCM)));
}

static void write_enables(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    chip *c = param;
    (void)address;
    uint8_t before = avr->data[REG_UCSR0B];
    avr->data[REG_UCSR0B] = value;
    if (before & RXEN && !(value & RXEN))
        flush_receiver(c);
    if (value & ~before & TXCIE)
        raise_if(c, c->uart.sent, TXC);
    if (value & ~before & RXCIE)
        uart_reraise(c, c->uart.received);
    if (value & ~before & UDRIE)
        uart_reraise(c, c->uart.emptied);
}

void uart_init(chip *c)
{
    avr_t *avr = c->avr;
    for (avr_io_t *part = avr->io_port; part; part = part->next)
        if (!strcmp(part->kind, "uart")) {
            avr_uart_t *simavr = (avr_uart_t *)part;
            c->uart.received = &simavr->rxc;
            c->uart.emptied = &simavr->udrc;
            c->uart.sent = &simavr->txc;
        }
    chip_set_handler(c, REG_UCSR0A, write_status, NULL);
    chip_set_handler(c, REG_UCSR0B, write_enables, NULL);
    chip_set_handler(c, REG_UBRR0L, NULL, NULL);
    chip_set_handler(c, REG_UDR0, write_data, NULL);
    avr->io[AVR_DATA_TO_IO(REG_UCSR0A)].r.c = NULL;
    avr->io[AVR_DATA_TO_IO(REG_UDR0)].r.c = read_data;
    avr->io[AVR_DATA_TO_IO(REG_UDR0)].r.param = c;
    c->uart.byte_done = c->uart.send_done = CHIP_NEVER;
}

void uart_after_reset(chip *c)
{
    uint8_t *data = c->avr->data;
    c->uart.fifo_count = c->uart.shift_full = c->uart.buffer_full = 0;
    c->uart.byte_done = c->uart.send_done = CHIP_NEVER;
    data[REG_UCSR0A] = UDRE;
    data[REG_UCSR0B] = 0; /* simavr would leave TXEN set */
    data[REG_UCSR0C] = FORMAT_8N1;
}

/* ---- the line -------------------------------------------------------------------------------------------------- */

uint64_t uart_next(const chip *c)
{
    const struct uart *u = &c->uart;
    uint64_t receive = u->byte_done;
    if (receive == CHIP_NEVER && u->queue_head < u->queue_tail)
        receive = next_start(c);
    return receive < u->send_done ? receive : u->send_done;
}

void uart_due(chip *c, uint64_t cycle)
{
    if (c->uart.send_done == cycle)
        byte_sent(c, cycle);
    else if (c->uart.byte_done == cycle)
        line_ends_byte(c, cycle);
    else
        line_starts_byte(c, cycle);
}

void chip_send(chip *c, const uint8_t *bytes, size_t count, uint64_t cycle)
{
    struct uart *u = &c->uart;
    if (u->queue_tail + count > u->queue_room) {
        u->queue_room = 2 * (u->queue_tail + count);
        u->queue = realloc(u->queue, u->queue_room);
        if (!u->queue)
            abort();
    }
    uint64_t earliest = (cycle > c->avr->cycle ? cycle : c->avr->cycle) * u->line_baud;
    if (u->queue_head == u->queue_tail && u->line_free_scaled < earliest)
        u->line_free_scaled = earliest;
    memcpy(u->queue + u->queue_tail, bytes, count);
    u->queue_tail += count;
    chip_arm(c);
}

size_t chip_line_pending(const chip *c)
{
    return c->uart.queue_tail - c->uart.queue_head;
}

void chip_line_clear(chip *c)
{
    c->uart.queue_head = c->uart.queue_tail = 0;
    chip_arm(c);
}
