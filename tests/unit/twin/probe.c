/* A program that does what the tests of the simulated chip ask for, one letter at a time over the UART. */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

static uint8_t reset_cause __attribute__((section(".noinit")));
static uint8_t overruns;

void keep_reset_cause(void) __attribute__((naked, used, section(".init3")));
void keep_reset_cause(void)
{
    reset_cause = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

/* The first instruction raises PD4: the time from the edge on PD3 to it is the chip's own. */
ISR(INT1_vect, ISR_NAKED)
{
    __asm__ volatile("sbi %0, 4\n\tcbi %0, 4\n\treti" ::"I"(_SFR_IO_ADDR(PORTD)));
}

ISR(TIMER2_COMPA_vect, ISR_NAKED)
{
    __asm__ volatile("sbi %0, 7\n\tcbi %0, 7\n\treti" ::"I"(_SFR_IO_ADDR(PORTD)));
}

static void send(uint8_t byte)
{
    while (!(UCSR0A & _BV(UDRE0)))
        ;
    UDR0 = byte;
}

static uint8_t receive(void)
{
    while (!(UCSR0A & _BV(RXC0)))
        ;
    if (UCSR0A & _BV(DOR0))
        overruns++;
    return UDR0;
}

static uint16_t receive_word(void)
{
    uint8_t low = receive();
    return (uint16_t)(low | (uint16_t)receive() << 8);
}

static void dive(uint8_t depth)
{
    volatile uint8_t filler[16];
    filler[0] = depth;
    if (depth)
        dive((uint8_t)(filler[0] - 1));
}

int main(void)
{
    UBRR0H = 0;
    UBRR0L = 16; /* before U2X: 115,200 baud all the same */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
    DDRD = _BV(PD4) | _BV(PD6) | _BV(PD7);
    DDRB = _BV(PB1) | _BV(PB2) | _BV(PB5);
    send(reset_cause);
    for (;;) {
        switch (receive()) {
        case 'i': /* all inputs */
            send(PINB);
            send(PINC);
            send(PIND);
            break;
        case 'p': /* pull-ups and an output beside a driven input */
            PORTD |= _BV(PD2) | _BV(PD3) | _BV(PD4);
            send(PIND);
            break;
        case 't': /* servo pulses: 20 ms, OCR1A and OCR1B follow */
            ICR1 = 39999;
            OCR1A = receive_word();
            OCR1B = receive_word();
            TCCR1A = _BV(COM1A1) | _BV(COM1B1) | _BV(WGM11);
            TCCR1B = _BV(WGM13) | _BV(WGM12) | _BV(CS11);
            break;
        case 'a':
            OCR1A = receive_word();
            break;
        case 'b': /* a port write beside the running servo outputs */
            PORTB |= _BV(PB5);
            PORTB &= (uint8_t)~_BV(PB5);
            break;
        case 'o': /* servo outputs off */
            TCCR1A = _BV(WGM11);
            break;
        case 'g': /* toggle PB5 by writing PINB */
            PORTB |= _BV(PB3);
            DDRB |= _BV(PB3);
            __asm__ volatile("sbi %0, 5" ::"I"(_SFR_IO_ADDR(PINB)));
            send(PORTB);
            break;
        case 'h': /* hang with the trigger on */
            wdt_enable(WDTO_30MS);
            PORTD |= _BV(PD4);
            cli();
            for (;;)
                ;
        case 'w': /* hold for a while, so that bytes pile up */
            TCNT0 = 0;
            TCCR0B = _BV(CS02) | _BV(CS00);
            while (TCNT0 < 30)
                ;
            TCCR0B = 0;
            break;
        case 'v':
            send(overruns);
            break;
        case 'e': { /* write EEPROM; PD6 is high while it is busy */
            uint8_t address = receive(), value = receive();
            eeprom_write_byte((uint8_t *)(uint16_t)address, value);
            PORTD |= _BV(PD6);
            eeprom_busy_wait();
            PORTD &= (uint8_t)~_BV(PD6);
            break;
        }
        case 'r':
            send(eeprom_read_byte((const uint8_t *)(uint16_t)receive()));
            break;
        case 'n': /* edges of PD3 raise PD4; wait in a loop */
        case 'z': /* the same from idle sleep, for good */
            EICRA = _BV(ISC10);
            EIFR = _BV(INTF1);
            EIMSK = _BV(INT1);
            sei();
            if (bit_is_set(PIND, PD3))
                send('1');
            else
                send('0');
            while (!(UCSR0A & _BV(TXC0)))
                ;
            break;
        case 'l': /* as quiet a loop as can be */
            for (;;)
                ;
        case 's':
            set_sleep_mode(SLEEP_MODE_IDLE);
            sleep_enable();
            for (;;)
                sleep_cpu();
        case 'f': /* a flag that stands while its interrupt is off, then on */
            OCR2A = 10;
            TCCR2B = _BV(CS20);
            while (!(TIFR2 & _BV(OCF2A)) || !(TIFR2 & _BV(TOV2)))
                ;
            TCCR2B = 0;
            TIFR2 = _BV(TOV2);
            send(TIFR2);
            sei();
            TIMSK2 = _BV(OCIE2A);
            __asm__ volatile("nop\n\tnop");
            send(TIFR2);
            break;
        case 'u': { /* one pulse on PD6 from compare matches of Timer0 in normal mode, over two wraps */
            TCNT0 = 0;
            OCR0A = 100;
            TCCR0A = _BV(COM0A1) | _BV(COM0A0);
            TIFR0 = _BV(TOV0) | _BV(OCF0A);
            TCCR0B = _BV(CS01);
            for (uint8_t wraps = 0; wraps < 3; wraps++) {
                while (!(TIFR0 & _BV(TOV0)))
                    ;
                TIFR0 = _BV(TOV0);
                if (wraps == 1) {
                    OCR0A = 180;
                    TCCR0A = _BV(COM0A1);
                }
            }
            TCCR0B = 0;
            break;
        }
        case 'd':
            dive(20);
            send('d');
            break;
        case 'x':
            cli();
            set_sleep_mode(SLEEP_MODE_IDLE);
            sleep_mode();
            break;
        case 'y':
            sei();
            set_sleep_mode(SLEEP_MODE_PWR_DOWN);
            sleep_mode();
            break;
        case 'c':
            __asm__ volatile("ldi r30, 0xff\n\tldi r31, 0x3f\n\tijmp");
            break;
        case 'm': { /* store a byte at any address */
            volatile uint8_t *place = (volatile uint8_t *)receive_word();
            *place = receive();
            break;
        }
        case 'q': /* read a byte of flash at any address */
            send(pgm_read_byte(receive_word()));
            break;
        case 'k':
            SP = 0x0B00;
            dive(3);
            break;
        }
    }
}
