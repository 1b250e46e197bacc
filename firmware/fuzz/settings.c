/* Whatever EEPROM holds, the cannon's axes stay within their limits, and a save that loses power leaves the settings of
 * before or after it.
 *
 * Input: for each of the two copies a byte that says what it is (bit 0: a record, else blank; bit 1: its CRC is made
 * right; bits 2..7: its sequence) and a number of changes; then the changes, three bytes each: a setting and a value's
 * two bytes, or, for a setting that does not exist, a byte of the record. Then a byte that says after how many bytes of
 * the save the power fails, and one event a byte for what is left: homes, moves and so on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "line.h"
#include "target.h"
#include "witness.h"

#define COPY_BYTES (WITNESS_EEPROM_BYTES / 2u)
#define RECORD_BYTES (2u + 2u * WIRE_SETTING_COUNT + 2u)
#define LOOP_US 20000u
#define MOST_EVENTS 12u
#define PERMITTED (WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK)

static const struct {
    uint16_t factory, least, most;
} limits[WIRE_SETTING_COUNT] = {WIRE_SETTINGS_TABLE};

struct source {
    const uint8_t *byte;
    size_t left;
};

static struct host *host;
static struct witness witness;
static uint8_t id;

static uint8_t next(struct source *from)
{
    if (from->left == 0) {
        return 0;
    }
    from->left--;
    return *from->byte++;
}

/* -- what EEPROM holds --------------------------------------------------------------------------------------------- */

static uint16_t record_crc(const uint8_t *record) { return line_crc(LINE_NO_SESSION, record, RECORD_BYTES - 2u); }

static void fill(uint8_t *record, struct source *from)
{
    uint8_t kind = next(from), changes = next(from);
    memset(record, 0xFF, COPY_BYTES);
    if (!(kind & 1u)) {
        return;
    }
    record[0] = kind >> 2;
    record[1] = WIRE_SETTING_COUNT;
    for (unsigned i = 0; i < WIRE_SETTING_COUNT; i++) {
        record[2u + 2u * i] = (uint8_t)limits[i].factory;
        record[3u + 2u * i] = (uint8_t)(limits[i].factory >> 8);
    }
    for (unsigned i = 0; i < changes && from->left != 0; i++) {
        uint8_t which = next(from), low = next(from), high = next(from);
        if (which < WIRE_SETTING_COUNT) {
            target_say("copy: setting %u is %u", which, low | high << 8);
            record[2u + 2u * which] = low;
            record[3u + 2u * which] = high;
        } else {
            record[low % RECORD_BYTES] = high;
        }
    }
    uint16_t crc = (uint16_t)(record_crc(record) ^ (kind & 2u ? 0 : 1u));
    record[RECORD_BYTES - 2u] = (uint8_t)crc;
    record[RECORD_BYTES - 1u] = (uint8_t)(crc >> 8);
}

static bool sealed(const uint8_t *record)
{
    return (record[RECORD_BYTES - 2u] | record[RECORD_BYTES - 1u] << 8) == record_crc(record) &&
           record[1] == WIRE_SETTING_COUNT;
}

/* Could these be settings? A home lies within the limits of its axis. */
static bool sensible(const uint8_t *record, uint16_t *values)
{
    bool good = sealed(record);
    for (unsigned i = 0; i < WIRE_SETTING_COUNT; i++) {
        values[i] = (uint16_t)(record[2u + 2u * i] | record[3u + 2u * i] << 8);
        good = good && values[i] >= limits[i].least && values[i] <= limits[i].most;
    }
    for (unsigned axis = 0; axis < 3u; axis++) {
        const uint16_t *of_axis = &values[4u * axis];
        good = good && of_axis[2] >= of_axis[0] && of_axis[2] <= of_axis[1];
    }
    return good;
}

static bool blank(const uint8_t *record)
{
    for (unsigned i = 0; i < RECORD_BYTES; i++) {
        if (record[i] != 0xFFu) {
            return false;
        }
    }
    return true;
}

/* What the cannon makes of it must be one of the copies that make sense, or factory settings and a fault. */
static void check_loaded(const uint8_t *eeprom)
{
    uint16_t copies[2][WIRE_SETTING_COUNT];
    bool good[2], taken[2];
    bool factory = true;
    for (unsigned i = 0; i < 2u; i++) {
        good[i] = sensible(&eeprom[i * COPY_BYTES], copies[i]);
        taken[i] = good[i] && memcmp(witness.settings, copies[i], sizeof copies[i]) == 0;
    }
    for (unsigned i = 0; i < WIRE_SETTING_COUNT; i++) {
        factory = factory && witness.settings[i] == limits[i].factory;
    }
    bool told = (witness.seen.faults & 1u << (WIRE_FAULT_SETTINGS_CORRUPT - 1u)) != 0;
    if (!taken[0] && !taken[1] && !factory) {
        target_broken("S-12", "settings in use that neither copy holds");
    }
    for (unsigned i = 0; i < 2u; i++) {
        if (good[i] && !sealed(&eeprom[(1u - i) * COPY_BYTES]) && !taken[i]) {
            target_broken("S-12", "the one good copy is not used");
        }
    }
    bool nothing_stored = blank(eeprom) && blank(&eeprom[COPY_BYTES]);
    if (told && nothing_stored) {
        target_broken("S-12", "blank EEPROM is told as a fault");
    }
    if (!good[0] && !good[1] && !nothing_stored && !told) {
        target_broken("S-12", "damaged settings are not told");
    }
}

/* -- and what is done with it -------------------------------------------------------------------------------------- */

static void step(uint32_t passed_us)
{
    witness_pass(&witness, host, passed_us);
    witness_think(&witness, host);
    witness_act(&witness, host);
}

static void command(uint8_t type, const uint8_t *payload, uint8_t length)
{
    struct line_bytes bytes = line_frame(witness_session(&witness), ++id, type, payload, length, 0);
    for (unsigned i = 0; i < bytes.count; i++) {
        witness_receive(&witness, host, bytes.byte[i]);
    }
    witness_receive(&witness, host, WIRE_FLAG);
    step(1000u);
}

static void wait(unsigned loops)
{
    for (unsigned i = 0; i < loops; i++) {
        if (i % 5u == 0) {
            command(WIRE_COMMAND_HEARTBEAT, (const uint8_t[]){witness.newest_event}, 1);
        }
        step(LOOP_US);
    }
}

static void put_lever(uint8_t lever)
{
    witness_set_pins(&witness, host, (uint8_t)(PERMITTED | lever));
    wait(6);
}

static void happen(uint8_t event)
{
    static const char *const names[] = {"home", "cock", "let down", "safe", "service", "lever forward",
                                        "lever drawn", "lever latched", "a reset", "move", "time"};
    static const uint8_t types[] = {WIRE_COMMAND_HOME, WIRE_COMMAND_COCK, WIRE_COMMAND_LET_DOWN, WIRE_COMMAND_SAFE,
                                    WIRE_COMMAND_SERVICE};
    uint8_t kind = event % 11u, number = event / 11u;
    target_say("%s", names[kind]);
    switch (kind) {
    case 5:
        put_lever(0);
        break;
    case 6:
        put_lever(WIRE_INPUT_LEVER_DRAWN_MASK);
        break;
    case 7:
        put_lever(WIRE_INPUT_LEVER_DRAWN_MASK | WIRE_INPUT_LEVER_LATCHED_MASK);
        break;
    case 8:
        witness_reset(&witness, host, WIRE_RESET_CAUSE_WATCHDOG);
        command(WIRE_COMMAND_IDENTIFY, (const uint8_t[]){WIRE_VERSION, number, 0}, WIRE_COMMAND_IDENTIFY_LENGTH);
        break;
    case 9: {
        uint16_t ticks = witness.settings[4u * (number % 3u) + (number / 3u) % 2u];
        const uint8_t payload[] = {number % 3u, (uint8_t)ticks, (uint8_t)(ticks >> 8)};
        command(WIRE_COMMAND_MOVE, payload, sizeof payload);
        break;
    }
    case 10:
        wait(4u * number);
        break;
    default:
        command(types[kind], NULL, 0);
        wait(number);
        break;
    }
}

void target_run(const uint8_t *bytes, size_t count)
{
    struct source from = {bytes, count};
    host_free(host);
    host = host_new();
    if (host == NULL) {
        fputs("fuzz: no memory is left\n", stderr);
        exit(2);
    }
    fill(host_eeprom(host), &from);
    fill(host_eeprom(host) + COPY_BYTES, &from);
    id = 0;
    witness_begin(&witness, host);
    check_loaded(host_eeprom(host));
    witness_set_pins(&witness, host, PERMITTED);
    wait(6);
    command(WIRE_COMMAND_IDENTIFY, (const uint8_t[]){WIRE_VERSION, 1, 0}, WIRE_COMMAND_IDENTIFY_LENGTH);
    uint8_t writes = next(&from);
    for (unsigned i = 0; i < MOST_EVENTS && from.left != 0; i++) {
        happen(next(&from));
    }
    command(WIRE_COMMAND_SAFE, NULL, 0);
    command(WIRE_COMMAND_CONFIGURE, (const uint8_t[]){WIRE_SETTING_SHOT_TIMEOUT_MS, writes, 1},
            WIRE_COMMAND_CONFIGURE_LENGTH);
    host_fail_after_writes(host, writes % (RECORD_BYTES + 2u));
    command(WIRE_COMMAND_SAVE_SETTINGS, NULL, 0);
    wait(RECORD_BYTES + 4u);
    target_say("power fails");
    witness_reset(&witness, host, WIRE_RESET_CAUSE_POWER_ON);
}
