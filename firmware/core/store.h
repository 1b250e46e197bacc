/* Settings in EEPROM: two copies, each SEQUENCE COUNT VALUES.. CRC_LO CRC_HI. A save goes into the older copy, its CRC
 * last, so at whatever byte the power fails one good copy is left. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "settings.h"

#define STORE_RECORD_BYTES (2u + 2u * WIRE_SETTING_COUNT + 2u)
#define STORE_COPY_BYTES 128u /* distance between the two copies */

CHECK_COMPILE_TIME(copies_apart, STORE_RECORD_BYTES <= STORE_COPY_BYTES);

enum store_loaded {
    STORE_BLANK,   /* nothing was ever saved: factory settings */
    STORE_GOOD,    /* settings are those saved last */
    STORE_DAMAGED, /* what is there makes no sense: factory settings */
};

struct store {
    uint8_t copy;     /* the copy in use, 0 or 1 */
    uint8_t sequence; /* of the copy in use */
    uint8_t position; /* the byte to write next */
    bool writing;
    uint16_t crc; /* of what has been written of this record */
};

/* Read the newer good copy into settings, or set factory values. Blocks: only before interrupts are on. */
enum store_loaded store_load(struct store *store, struct settings *settings);

/* Begin a save. The settings must not change until store_step says it is done. */
void store_save(struct store *store);

/* Write at most one byte, if the EEPROM is ready. True once, when the save is complete. */
bool store_step(struct store *store, const struct settings *settings);

#endif
