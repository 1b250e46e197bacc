#include "settings.h"

#include "crc.h"
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

bool settings_allows(uint8_t setting, uint16_t value)
{
    return setting < WIRE_SETTING_COUNT && value >= rom_u16(&limits[setting].minimum) &&
           value <= rom_u16(&limits[setting].maximum);
}

uint8_t settings_contradiction(const struct settings *settings)
{
    static const uint8_t first_of_axis[] ROM = {WIRE_SETTING_TRAVERSE_MIN_TICKS, WIRE_SETTING_AZIMUTH_MIN_TICKS,
                                                WIRE_SETTING_ELEVATION_MIN_TICKS};
    for (uint8_t i = 0; i < sizeof first_of_axis; i++) {
        uint8_t minimum = rom_u8(&first_of_axis[i]); /* followed by maximum and home */
        uint8_t home = (uint8_t)(minimum + 2u);
        if (settings->values[home] < settings->values[minimum] ||
            settings->values[home] > settings->values[minimum + 1u]) {
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
