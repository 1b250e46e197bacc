/* Deadlines on a microsecond clock that wraps after 71 minutes. A deadline lies at most 35 minutes away. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MS(ms) ((uint32_t)(ms) * 1000u)

/* True from the deadline on. */
static inline bool clock_due(uint32_t now_us, uint32_t deadline_us) { return (int32_t)(now_us - deadline_us) >= 0; }

#endif
