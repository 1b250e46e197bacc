/* What must be true of the inputs before something dangerous is allowed. */
#ifndef INTERLOCKS_H
#define INTERLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define INTERLOCKS_PASSED 0u /* no refusal has this code */

/* Leaving safe: INTERLOCKS_PASSED or a reason, enum wire_refusal. */
uint8_t interlocks_leave_safe(uint8_t levels, bool key_cycle_needed);

/* Arming and firing: INTERLOCKS_PASSED or a reason. */
uint8_t interlocks_fire(uint8_t levels);

#endif
