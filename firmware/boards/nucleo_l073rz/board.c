/* The core on an STM32L073RZ at 32 MHz, as it sits on a Nucleo-L073RZ.
 *
 * The same division as on the Uno: what must be at once happens in interrupts, everything else is cannon_step in the
 * main loop, which sleeps until something is to be done. Line, emergency stop, key, lane and gate have one priority, so
 * none of them interrupts another; the servo period and the millisecond are below them. All five servos are hardware:
 * three timers, 2 MHz, 20 ms. The first of them is the clock as well. */
#include "board.h"

#include "cannon.h"
#include "kept.h"
#include "pins.h"
#include "start.h"

#define CLOCK_HZ 32000000u
#define TICKS_HZ 2000000u
#define PERIOD_TICKS 40000u
#define PERIOD_US 20000u
#define MAIN_LOOP_HZ 1000u

/* Of the watchdog's oscillator, 26 to 56 kHz, a quarter: it bites after 28 to 60 ms. */
#define WATCHDOG_TICKS 390u

static struct cannon cannon;
static volatile bool tick; /* a millisecond has passed */
static volatile uint32_t period_start_us;
static volatile struct cannon_edge left_first, left_second;

/* Kept over every reset but a loss of supply: start-up code leaves .noinit alone. */
static struct kept kept[2] __attribute__((section(".noinit")));
static struct history history __attribute__((section(".noinit")));

uint8_t board_kind(void) { return WIRE_BOARD_NUCLEO_L073RZ; }

uint8_t board_lock(void)
{
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
    return (uint8_t)before;
}

void board_unlock(uint8_t before) { __asm__ volatile("msr primask, %0" ::"r"((uint32_t)before) : "memory"); }

struct history *board_history(void) { return &history; }

bool board_eeprom_ready(void) { return (FLASH->SR & FLASH_SR_BSY) == 0; }

/* Erased cells of this EEPROM read 0, the core knows them as 0xFF: every bit is stored as its opposite. */
uint8_t board_eeprom_read(uint16_t address) { return (uint8_t)~EEPROM[address]; }

void board_eeprom_write(uint16_t address, uint8_t byte) { EEPROM[address] = (uint8_t)~byte; }

/* Interrupts off, or in one that goes first. Ticks of 0.5 us since the period began; it may have ended uncounted. */
static uint32_t time_us(uint32_t ticks)
{
    uint32_t start_us = period_start_us;
    if ((TIM2->SR & TIM_SR_UIF) != 0 && ticks < PERIOD_US) {
        start_us += PERIOD_US;
    }
    return start_us + ticks / 2u;
}

uint32_t board_interrupt_time_us(void) { return time_us(TIM2->CNT); }

/* ---- Interrupts ---- */

void key_handler(void)
{
    guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_KEY_ON_MASK);
    EXTI->PR = BIT(PIN_KEY);
}

void stop_and_lane_handler(void)
{
    uint32_t opened = EXTI->PR & (BIT(PIN_ESTOP) | BIT(PIN_LANE));
    if (opened & BIT(PIN_ESTOP)) {
        guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_ESTOP_OK_MASK);
    }
    if (opened & BIT(PIN_LANE)) {
        guard_withdraw(&cannon.guard, &cannon.receiver, WIRE_INPUT_LANE_CLEAR_MASK);
    }
    EXTI->PR = opened;
}

static void note_edge(volatile struct cannon_edge *edge, uint32_t ticks)
{
    edge->time_us = time_us(ticks);
    edge->half_us = ticks & 1u;
    edge->seen = true;
}

/* A shot leaves a barrier when the barrier is no longer blocked. */
void gate_handler(void)
{
    uint32_t ticks = TIM2->CNT;
    uint32_t left = EXTI->PR & (BIT(PIN_GATE_FIRST) | BIT(PIN_GATE_SECOND));
    EXTI->PR = left;
    if (left & BIT(PIN_GATE_FIRST)) {
        note_edge(&left_first, ticks);
    }
    if (left & BIT(PIN_GATE_SECOND)) {
        note_edge(&left_second, ticks);
    }
}

void line_handler(void)
{
    uint32_t status = USART2->ISR;
    if (status & USART_ISR_RXNE) {
        guard_receive(&cannon.guard, &cannon.receiver, (uint8_t)USART2->RDR);
    }
    if (status & USART_ISR_ORE) {
        cannon.receiver.lost |= WIRE_LOSS_HARDWARE_MASK;
    }
    if (status & USART_ISR_FE) {
        cannon.receiver.lost |= WIRE_LOSS_FRAMING_MASK;
    }
    USART2->ICR = status & USART_ICR_ERRORS;
    if (status & USART2->CR1 & USART_ISR_TXE) { /* TXE and its enable are the same bit */
        if (outbox_empty(&cannon.outbox)) {
            USART2->CR1 &= ~USART_CR1_TXEIE;
        } else {
            USART2->TDR = outbox_take(&cannon.outbox);
        }
    }
}

void period_handler(void)
{
    uint8_t before = board_lock();
    TIM2->SR = ~TIM_SR_UIF;
    period_start_us += PERIOD_US;
    guard_period(&cannon.guard);
    board_unlock(before);
}

void systick_handler(void) { tick = true; }

/* ---- Start ---- */

/* From the internal oscillator, 16 MHz, times 4, by 2. */
static void start_clock(void)
{
    RCC->APB1ENR |= RCC_APB1ENR_PWREN;
    PWR->CR = (PWR->CR & ~PWR_CR_VOS) | PWR_CR_VOS_RANGE_1;
    while (PWR->CSR & PWR_CSR_VOSF) {
    }
    FLASH->ACR = FLASH_ACR_LATENCY | FLASH_ACR_PRFTEN;
    RCC->CR |= RCC_CR_HSION;
    while (!(RCC->CR & RCC_CR_HSIRDY)) {
    }
    RCC->CFGR = RCC_CFGR_PLLMUL4 | RCC_CFGR_PLLDIV2;
    RCC->CR |= RCC_CR_PLLON;
    while (!(RCC->CR & RCC_CR_PLLRDY)) {
    }
    RCC->CFGR |= RCC_CFGR_SW_PLL;
    while ((RCC->CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
}

static void start_watchdog(void)
{
    IWDG->KR = IWDG_KR_START;
    IWDG->KR = IWDG_KR_ACCESS;
    IWDG->PR = IWDG_PR_DIV4;
    IWDG->RLR = WATCHDOG_TICKS - 1u;
}

static void set_mode(struct gpio *port, unsigned pin, uint32_t mode)
{
    port->MODER = (port->MODER & ~(3u << (2u * pin))) | mode << (2u * pin);
}

static void make_input(struct gpio *port, unsigned pin)
{
    port->PUPDR |= GPIO_PULL_UP << (2u * pin);
    set_mode(port, pin, GPIO_INPUT);
}

static void make_alternate(struct gpio *port, unsigned pin, uint32_t function)
{
    reg *functions = pin < 8u ? &port->AFRL : &port->AFRH;
    *functions |= function << (4u * (pin % 8u));
    set_mode(port, pin, GPIO_ALTERNATE);
}

/* After a reset every pin floats and every output register is 0: low is what comes first. */
static void start_pins(void)
{
    RCC->IOPENR |= RCC_IOPENR_PORTS_ABC;
    set_mode(GPIOB, PIN_TRIGGER, GPIO_OUTPUT);
    set_mode(GPIOB, PIN_LOADER, GPIO_OUTPUT);
    set_mode(GPIOA, PIN_LAMP, GPIO_OUTPUT);
    make_input(GPIOA, PIN_ESTOP);
    make_input(GPIOB, PIN_KEY);
    make_input(GPIOA, PIN_LANE);
    make_input(GPIOA, PIN_GATE_FIRST);
    make_input(GPIOA, PIN_GATE_SECOND);
    make_input(GPIOA, PIN_LEVER_DRAWN);
    make_input(GPIOB, PIN_LEVER_LATCHED);
}

static void start_timer(struct tim *timer)
{
    timer->PSC = CLOCK_HZ / TICKS_HZ - 1u;
    timer->ARR = PERIOD_TICKS - 1u;
    timer->CCMR1 = TIM_CCMR_PWM;
    timer->CCMR2 = TIM_CCMR_PWM; /* nothing on timer 22, which has two channels */
    timer->EGR = TIM_EGR_UG;
    timer->SR = 0;
    timer->CR1 = TIM_CR1_ARPE | TIM_CR1_CEN;
}

/* A width of 0 is no pulse, so the outputs may be on from the beginning. */
static void start_servos(void)
{
    RCC->APB1ENR |= RCC_APB1ENR_TIM2EN | RCC_APB1ENR_TIM3EN;
    RCC->APB2ENR |= RCC_APB2ENR_TIM22EN;
    start_timer(TIM2);
    start_timer(TIM3);
    start_timer(TIM22);
    TIM2->CCER = TIM_CCER_CC3E;
    TIM3->CCER = TIM_CCER_CC1E | TIM_CCER_CC2E;
    TIM22->CCER = TIM_CCER_CC1E | TIM_CCER_CC2E;
    make_alternate(GPIOB, PIN_TRAVERSE, 2u);
    make_alternate(GPIOC, PIN_AZIMUTH, 2u);
    make_alternate(GPIOA, PIN_ELEVATION, 5u);
    make_alternate(GPIOB, PIN_DRAW, 2u);
    make_alternate(GPIOA, PIN_LATCH, 5u);
    TIM2->DIER = TIM_DIER_UIE;
}

static void start_line(void)
{
    RCC->APB1ENR |= RCC_APB1ENR_USART2EN;
    GPIOA->PUPDR |= GPIO_PULL_UP << (2u * PIN_RX);
    make_alternate(GPIOA, PIN_TX, 4u);
    make_alternate(GPIOA, PIN_RX, 4u);
    USART2->BRR = (CLOCK_HZ + WIRE_BAUD / 2u) / WIRE_BAUD;
    USART2->CR1 = USART_CR1_UE | USART_CR1_RE | USART_CR1_TE | USART_CR1_RXNEIE;
}

static void start_interrupts(void)
{
    const uint32_t opens = BIT(PIN_ESTOP) | BIT(PIN_KEY) | BIT(PIN_LANE);
    const uint32_t leaves = BIT(PIN_GATE_FIRST) | BIT(PIN_GATE_SECOND);
    RCC->APB2ENR |= RCC_APB2ENR_SYSCFGEN;
    SYSCFG->EXTICR[PIN_KEY / 4u] |= SYSCFG_PORT_B << (4u * (PIN_KEY % 4u)); /* the others are port A's */
    EXTI->RTSR = opens; /* rising: a circuit opens */
    EXTI->FTSR = leaves;
    EXTI->PR = opens | leaves;
    EXTI->IMR = opens | leaves;
    NVIC_IPR[INTERRUPT_TIM2 / 4] = 0x40000000u;
    SCB_SHPR3 = 0xC0000000u;
    NVIC_ISER = BIT(INTERRUPT_EXTI0_1) | BIT(INTERRUPT_EXTI2_3) | BIT(INTERRUPT_EXTI4_15) | BIT(INTERRUPT_TIM2) |
                BIT(INTERRUPT_USART2);
    SYSTICK->RVR = CLOCK_HZ / MAIN_LOOP_HZ - 1u;
    SYSTICK->CVR = 0;
    SYSTICK->CSR = SYSTICK_CSR_ON;
}

/* A supply that fell too low and one that came on set the same flag. */
static uint8_t reset_cause(void)
{
    uint32_t flags = RCC->CSR;
    RCC->CSR = flags | RCC_CSR_RMVF;
    if (flags & RCC_CSR_PORRSTF) {
        return WIRE_RESET_CAUSE_POWER_ON;
    }
    return flags & RCC_CSR_IWDGRSTF ? WIRE_RESET_CAUSE_WATCHDOG : WIRE_RESET_CAUSE_EXTERNAL;
}

/* ---- Main loop ---- */

static uint8_t levels(void)
{
    uint32_t a = GPIOA->IDR;
    uint32_t b = GPIOB->IDR;
    unsigned bits = 0;
    bits |= a & BIT(PIN_ESTOP) ? 0u : WIRE_INPUT_ESTOP_OK_MASK;
    bits |= b & BIT(PIN_KEY) ? 0u : WIRE_INPUT_KEY_ON_MASK;
    bits |= a & BIT(PIN_LEVER_DRAWN) ? 0u : WIRE_INPUT_LEVER_DRAWN_MASK;
    bits |= b & BIT(PIN_LEVER_LATCHED) ? 0u : WIRE_INPUT_LEVER_LATCHED_MASK;
    bits |= a & BIT(PIN_GATE_FIRST) ? WIRE_INPUT_GATE_FIRST_BLOCKED_MASK : 0u;
    bits |= a & BIT(PIN_GATE_SECOND) ? WIRE_INPUT_GATE_SECOND_BLOCKED_MASK : 0u;
    bits |= a & BIT(PIN_LANE) ? 0u : WIRE_INPUT_LANE_CLEAR_MASK;
    return (uint8_t)bits;
}

static struct cannon_edge take_edge(volatile struct cannon_edge *edge)
{
    uint8_t before = board_lock();
    struct cannon_edge taken = {.time_us = edge->time_us, .half_us = edge->half_us, .seen = edge->seen};
    edge->seen = false;
    board_unlock(before);
    return taken;
}

static void gather(struct cannon_inputs *inputs)
{
    inputs->left_first = take_edge(&left_first);
    inputs->left_second = take_edge(&left_second);
    inputs->levels = levels();
    uint8_t before = board_lock();
    inputs->now_us = board_interrupt_time_us();
    board_unlock(before);
}

static void apply(const struct cannon_outputs *outputs)
{
    guard_apply(&cannon.guard, &cannon.receiver, outputs->trigger, outputs->loader);
    GPIOA->BSRR = outputs->armed_lamp ? BIT(PIN_LAMP) : BIT(PIN_LAMP) << BSRR_RESET_SHIFT;
    TIM3->CCR1 = outputs->pulse_ticks[WIRE_AXIS_TRAVERSE];
    TIM3->CCR2 = outputs->pulse_ticks[WIRE_AXIS_AZIMUTH];
    TIM22->CCR2 = outputs->pulse_ticks[WIRE_AXIS_ELEVATION];
    TIM2->CCR3 = outputs->pulse_ticks[WIRE_AXIS_DRAW];
    TIM22->CCR1 = outputs->pulse_ticks[WIRE_AXIS_LATCH];
    if (!outbox_empty(&cannon.outbox)) {
        uint8_t before = board_lock();
        USART2->CR1 |= USART_CR1_TXEIE;
        board_unlock(before);
    }
}

static bool something_to_do(void)
{
    return tick || cannon.receiver.head != cannon.receiver.tail || cannon.receiver.stopped ||
           cannon.receiver.fuse_fired || cannon.guard.lost || cannon.guard.hold_expired;
}

/* An interrupt that comes with interrupts off ends the sleep all the same, and is served after board_unlock. */
static void sleep_until_work(void)
{
    for (;;) {
        uint8_t before = board_lock();
        bool work = something_to_do();
        if (work) {
            tick = false;
        } else {
            __asm__ volatile("wfi" ::: "memory");
        }
        board_unlock(before);
        if (work) {
            return;
        }
    }
}

void main(void)
{
    SCB_VTOR = 0x08000000u;
    start_watchdog();
    start_pins();
    start_clock();
    uint8_t cause = reset_cause();
    FLASH->PEKEYR = FLASH_PEKEY1;
    FLASH->PEKEYR = FLASH_PEKEY2;
    cannon_start(&cannon, cause, kept_read(kept, cause == WIRE_RESET_CAUSE_POWER_ON));
    kept_write(kept, &cannon); /* the next reset may come before the first step */
    start_servos();
    start_line();
    start_interrupts();
    for (;;) {
        struct cannon_inputs inputs;
        IWDG->KR = IWDG_KR_RELOAD;
        gather(&inputs);
        cannon_step(&cannon, &inputs);
        apply(&cannon.outputs);
        kept_write(kept, &cannon);
        sleep_until_work();
    }
}
