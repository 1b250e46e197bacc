#include "store.h"

#include "board.h"
#include "crc.h"

static uint16_t address_of(uint8_t copy, uint8_t position)
{
    return (uint16_t)(copy * STORE_COPY_BYTES + position);
}

static bool copy_is_blank(uint8_t copy)
{
    for (uint8_t i = 0; i < STORE_RECORD_BYTES; i++) {
        if (board_eeprom_read(address_of(copy, i)) != 0xFFu) {
            return false;
        }
    }
    return true;
}

static bool copy_is_good(uint8_t copy)
{
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < STORE_RECORD_BYTES; i++) {
        crc = crc_add(crc, board_eeprom_read(address_of(copy, i)));
    }
    return crc == CRC_RESIDUE && board_eeprom_read(address_of(copy, 1)) == WIRE_SETTING_COUNT;
}

/* Even a record with a good CRC is believed only as far as the limits that are compiled in. */
static bool read_copy(uint8_t copy, struct settings *settings)
{
    for (uint8_t i = 0; i < WIRE_SETTING_COUNT; i++) {
        uint8_t position = (uint8_t)(2u + 2u * i);
        uint8_t low = board_eeprom_read(address_of(copy, position));
        uint8_t high = board_eeprom_read(address_of(copy, (uint8_t)(position + 1u)));
        uint16_t value = (uint16_t)(low | ((uint16_t)high << 8));
        if (!settings_allows(i, value)) {
            return false;
        }
        settings->values[i] = value;
    }
    return settings_contradiction(settings) == SETTINGS_CONSISTENT;
}

enum store_loaded store_load(struct store *store, struct settings *settings)
{
    while (!board_eeprom_ready()) { /* a byte that was being written at a reset is still: 3.4 ms at most */
    }
    bool good[2] = {copy_is_good(0), copy_is_good(1)};
    uint8_t sequences[2] = {board_eeprom_read(address_of(0, 0)), board_eeprom_read(address_of(1, 0))};
    uint8_t newer = (good[1] && (!good[0] || (int8_t)(sequences[1] - sequences[0]) > 0)) ? 1 : 0;
    store->writing = false;
    store->copy = newer;
    store->sequence = sequences[newer];
    if (good[newer] && read_copy(newer, settings)) {
        return STORE_GOOD;
    }
    settings_factory(settings);
    return copy_is_blank(0) && copy_is_blank(1) ? STORE_BLANK : STORE_DAMAGED;
}

void store_save(struct store *store)
{
    store->copy ^= 1u;
    store->sequence++;
    store->position = 0;
    store->crc = CRC_START;
    store->writing = true;
}

bool store_step(struct store *store, const struct settings *settings)
{
    if (!store->writing || !board_eeprom_ready()) {
        return false;
    }
    uint8_t position = store->position;
    uint8_t byte;
    if (position == STORE_RECORD_BYTES) {
        store->writing = false; /* the last byte has been written, not only begun */
        return true;
    }
    if (position == 0) {
        byte = store->sequence;
    } else if (position == 1) {
        byte = WIRE_SETTING_COUNT;
    } else if (position == STORE_RECORD_BYTES - 2u) {
        byte = (uint8_t)~store->crc;
    } else if (position == STORE_RECORD_BYTES - 1u) {
        byte = (uint8_t)(~store->crc >> 8);
    } else {
        uint16_t value = settings->values[(position - 2u) / 2u];
        byte = (uint8_t)(position % 2u == 0 ? value : value >> 8);
    }
    if (position < STORE_RECORD_BYTES - 2u) {
        store->crc = crc_add(store->crc, byte);
    }
    board_eeprom_write(address_of(store->copy, position), byte);
    store->position = (uint8_t)(position + 1u);
    return false;
}
