/* From the reset to main: the vector table, RAM as C expects it, and the four functions that the core asks of a C library.
 * There is no C library below this. */
#include "start.h"

#include <stdint.h>
#include <string.h>

#include "board_pins.h"
#include "registers.h"

/* Called by what the compiler cannot see: the chip, and code that the compiler itself makes. */
#define USED __attribute__((used))

/* From memory.ld */
extern uint32_t data_start[], data_end[], bss_start[], bss_end[], stack_top[];
extern const uint32_t data_stored[];


USED void reset_handler(void)
{
    const uint32_t *from = data_stored;
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    main();
}

/* Also what an interrupt that nobody asked for comes to, since its entry of the table is empty: a fault. Everything off;
 * the watchdog does the rest. */
NO_RETURN static void fault(void)
{
    board_drop_trigger();
    board_set_loader(false);
    for (;;) {
    }
}

typedef void handler(void);

struct vectors {
    uint32_t *stack;
    handler *exceptions[15]; /* by number less one */
    handler *interrupts[INTERRUPT_COUNT];
};

extern const struct vectors vectors;
const struct vectors vectors __attribute__((section(".vectors"), used)) = {
    .stack = stack_top,
    .exceptions = {[0] = reset_handler, [1] = fault, [2] = fault, [14] = systick_handler},
    .interrupts = {[INTERRUPT_EXTI0_1] = gate_handler,
                   [INTERRUPT_EXTI2_3] = key_handler,
                   [INTERRUPT_EXTI4_15] = stop_and_lane_handler,
                   [INTERRUPT_TIM2] = period_handler,
                   [INTERRUPT_USART2] = line_handler},
};

USED void *memset(void *to, int value, size_t count)
{
    uint8_t *bytes = to;
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)value;
    }
    return to;
}

USED void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    uint8_t *bytes = to;
    const uint8_t *read = from;
    for (size_t i = 0; i < count; i++) {
        bytes[i] = read[i];
    }
    return to;
}

USED void *memmove(void *to, const void *from, size_t count)
{
    uint8_t *bytes = to;
    const uint8_t *read = from;
    if (bytes <= read) {
        return memcpy(to, from, count);
    }
    while (count-- > 0) {
        bytes[count] = read[count];
    }
    return to;
}

USED int memcmp(const void *one, const void *other, size_t count)
{
    const uint8_t *left = one;
    const uint8_t *right = other;
    for (size_t i = 0; i < count; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}
