/* The registers of an STM32L073 that this board uses, as RM0367 names and places them, and of its Cortex-M0+. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#include "check.h"

typedef volatile uint32_t reg;

struct gpio {
    reg MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFRL, AFRH, BRR;
};
#define GPIOA ((struct gpio *)0x50000000u)
#define GPIOB ((struct gpio *)0x50000400u)
#define GPIOC ((struct gpio *)0x50000800u)
#define GPIO_INPUT 0u /* fields of MODER, two bits a pin */
#define GPIO_OUTPUT 1u
#define GPIO_ALTERNATE 2u
#define GPIO_PULL_UP 1u /* field of PUPDR */
#define BSRR_RESET_SHIFT 16u
CHECK_COMPILE_TIME(gpio_brr, offsetof(struct gpio, BRR) == 0x28u);

struct rcc {
    reg CR, ICSCR, CRRCR, CFGR, CIER, CIFR, CICR, IOPRSTR, AHBRSTR, APB2RSTR, APB1RSTR, IOPENR, AHBENR, APB2ENR, APB1ENR,
        IOPSMENR, AHBSMENR, APB2SMENR, APB1SMENR, CCIPR, CSR;
};
#define RCC ((struct rcc *)0x40021000u)
#define RCC_CR_HSION (1u << 0)
#define RCC_CR_HSIRDY (1u << 2)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR_SW_PLL (3u << 0)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (3u << 2)
#define RCC_CFGR_PLLMUL4 (1u << 18)
#define RCC_CFGR_PLLDIV2 (1u << 22)
#define RCC_IOPENR_PORTS_ABC 7u
#define RCC_APB2ENR_SYSCFGEN (1u << 0)
#define RCC_APB2ENR_TIM22EN (1u << 5)
#define RCC_APB1ENR_TIM2EN (1u << 0)
#define RCC_APB1ENR_TIM3EN (1u << 1)
#define RCC_APB1ENR_USART2EN (1u << 17)
#define RCC_APB1ENR_PWREN (1u << 28)
#define RCC_CSR_RMVF (1u << 23)
#define RCC_CSR_PORRSTF (1u << 27)
#define RCC_CSR_IWDGRSTF (1u << 29)
CHECK_COMPILE_TIME(rcc_csr, offsetof(struct rcc, CSR) == 0x50u);

struct pwr {
    reg CR, CSR;
};
#define PWR ((struct pwr *)0x40007000u)
#define PWR_CR_VOS (3u << 11)
#define PWR_CR_VOS_RANGE_1 (1u << 11)
#define PWR_CSR_VOSF (1u << 4)

struct flash {
    reg ACR, PECR, PDKEYR, PEKEYR, PRGKEYR, OPTKEYR, SR;
};
#define FLASH ((struct flash *)0x40022000u)
#define FLASH_ACR_LATENCY (1u << 0)
#define FLASH_ACR_PRFTEN (1u << 1)
#define FLASH_PEKEY1 0x89ABCDEFu
#define FLASH_PEKEY2 0x02030405u
#define FLASH_SR_BSY (1u << 0)
/* The data EEPROM's second bank: a program that runs from the first bank of flash goes on while this one is written. */
#define EEPROM ((volatile uint8_t *)0x08080C00u)
CHECK_COMPILE_TIME(flash_sr, offsetof(struct flash, SR) == 0x18u);

struct syscfg {
    reg CFGR1, CFGR2, EXTICR[4];
};
#define SYSCFG ((struct syscfg *)0x40010000u)
#define SYSCFG_PORT_B 1u /* field of EXTICR, four bits a line; port A is 0 */

struct exti {
    reg IMR, EMR, RTSR, FTSR, SWIER, PR;
};
#define EXTI ((struct exti *)0x40010400u)

struct tim {
    reg CR1, CR2, SMCR, DIER, SR, EGR, CCMR1, CCMR2, CCER, CNT, PSC, ARR, RESERVED, CCR1, CCR2, CCR3, CCR4;
};
#define TIM2 ((struct tim *)0x40000000u)
#define TIM3 ((struct tim *)0x40000400u)
#define TIM22 ((struct tim *)0x40011400u)
#define TIM_CR1_CEN (1u << 0)
#define TIM_CR1_ARPE (1u << 7)
#define TIM_DIER_UIE (1u << 0)
#define TIM_SR_UIF (1u << 0)
#define TIM_EGR_UG (1u << 0)
#define TIM_CCMR_PWM 0x6868u /* both channels of CCMR1 or CCMR2: PWM mode 1, CCR buffered until the period ends */
#define TIM_CCER_CC1E (1u << 0)
#define TIM_CCER_CC2E (1u << 4)
#define TIM_CCER_CC3E (1u << 8)
CHECK_COMPILE_TIME(tim_ccr1, offsetof(struct tim, CCR1) == 0x34u);

struct usart {
    reg CR1, CR2, CR3, BRR, GTPR, RTOR, RQR, ISR, ICR, RDR, TDR;
};
#define USART2 ((struct usart *)0x40004400u)
#define USART_CR1_UE (1u << 0)
#define USART_CR1_RE (1u << 2)
#define USART_CR1_TE (1u << 3)
#define USART_CR1_RXNEIE (1u << 5)
#define USART_CR1_TXEIE (1u << 7)
#define USART_ISR_FE (1u << 1)
#define USART_ISR_ORE (1u << 3)
#define USART_ISR_RXNE (1u << 5)
#define USART_ISR_TXE (1u << 7)
#define USART_ICR_ERRORS 0xFu /* parity, framing, noise, overrun */
CHECK_COMPILE_TIME(usart_tdr, offsetof(struct usart, TDR) == 0x28u);

struct iwdg {
    reg KR, PR, RLR, SR;
};
#define IWDG ((struct iwdg *)0x40003000u)
#define IWDG_KR_START 0xCCCCu
#define IWDG_KR_ACCESS 0x5555u
#define IWDG_KR_RELOAD 0xAAAAu
#define IWDG_PR_DIV4 0u

struct systick {
    reg CSR, RVR, CVR;
};
#define SYSTICK ((struct systick *)0xE000E010u)
#define SYSTICK_CSR_ON 7u /* counts processor clocks, with its interrupt */

#define NVIC_ISER (*(reg *)0xE000E100u)
#define NVIC_IPR ((reg *)0xE000E400u) /* a byte an interrupt, its two high bits count, 0 goes first */
#define SCB_VTOR (*(reg *)0xE000ED08u)
#define SCB_SHPR3 (*(reg *)0xE000ED20u) /* the high byte is SysTick's priority */

enum interrupt {
    INTERRUPT_EXTI0_1 = 5,
    INTERRUPT_EXTI2_3 = 6,
    INTERRUPT_EXTI4_15 = 7,
    INTERRUPT_TIM2 = 15,
    INTERRUPT_USART2 = 28,
    INTERRUPT_COUNT = 32,
};

#endif
