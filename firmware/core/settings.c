#include "settings.h"

#include "axes.h"
#include "crc.h"
#include "out_of_line.h"
#include "rom.h"

struct limits {
    uint16_t factory, minimum, maximum;
};

static const struct limits limits[WIRE_SETTING_COUNT] ROM = {WIRE_SETTINGS_TABLE};

void settings_factory(struct settings *settings)
{
    for (uint8_t i = 0; i < WIRE_SETTING_COUNT; i++) {
        settings->values[i] = rom_u16(&limits[i].factory);
    }
}

OUT_OF_LINE uint16_t settings_value(const struct settings *settings, uint8_t setting)
{
    return settings->values[setting];
}

bool settings_allows(uint8_t setting, uint16_t value)
{
    return setting < WIRE_SETTING_COUNT && value >= rom_u16(&limits[setting].minimum) &&
           value <= rom_u16(&limits[setting].maximum);
}

uint8_t settings_contradiction(const struct settings *settings)
{
    for (uint8_t i = 0; i < AXES_AIMING; i++) {
        uint8_t home = AXES_HOME_SETTING(i); /* after minimum and maximum */
        uint16_t home_ticks = settings->values[home];
        if (home_ticks < settings->values[home - 2u] || home_ticks > settings->values[home - 1u]) {
            return home;
        }
    }
    return SETTINGS_CONSISTENT;
}

uint16_t settings_crc(const struct settings *settings)
{
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < WIRE_SETTING_COUNT; i++) {
        crc = crc_add(crc, (uint8_t)settings->values[i]);
        crc = crc_add(crc, (uint8_t)(settings->values[i] >> 8));
    }
    return (uint16_t)~crc;
}
