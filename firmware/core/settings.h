/* Settings in use: one number each, within limits that are compiled in. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define SETTINGS_CONSISTENT 0xFFu

struct settings {
    uint16_t values[WIRE_SETTING_COUNT]; /* by enum wire_setting */
};

/* Every setting gets its factory value. */
void settings_factory(struct settings *settings);

/* What a setting says; it must exist. */
uint16_t settings_value(const struct settings *settings, uint8_t setting);

/* True when such a setting exists and may have that value. */
bool settings_allows(uint8_t setting, uint16_t value);

/* The first setting that contradicts another one (a home outside its axis's limits), or SETTINGS_CONSISTENT. */
uint8_t settings_contradiction(const struct settings *settings);

/* CRC-16/X-25 over all values, low byte first, in the order of their codes. */
uint16_t settings_crc(const struct settings *settings);

#endif
