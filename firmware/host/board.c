/* The core on a PC; see host.h. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

#include "cannon.h"
#include "crc.h"
#include "host.h"
#include "interlocks.h"

#define EEPROM_BYTES 1024u
#define EEPROM_WRITE_US 3400u
#define PERIOD_US 20000u
#define STEP_US 1000u
#define SENT_BYTES 65536u

struct host {
    struct cannon cannon;
    struct cannon_retained retained;
    struct history history;
    struct cannon_edge left_first, left_second;
    uint8_t levels;
    bool powered;
    bool trigger, loader;
    uint32_t pulls;
    uint32_t now_us;
    uint32_t period_us; /* when the servo period began */
    uint32_t eeprom_busy_us; /* how long it still writes */
    uint32_t line_takes; /* bytes; UINT32_MAX: any number */
    uint8_t locks_left; /* until what waits for such a moment comes; 0: nothing waits */
    uint8_t levels_then;
    bool for_good;
    uint8_t byte_then;
    int32_t writes_left; /* until the supply fails; negative: never */
    uint8_t eeprom[EEPROM_BYTES];
    uint8_t sent[SENT_BYTES];
    size_t sent_head, sent_tail;
};

/* The core asks for hardware without saying whose: it is that of the host whose call is being done. */
static struct host *current;

uint8_t board_kind(void) { return WIRE_BOARD_HOST; }

/* What waited for this moment comes now. */
static void interrupt(void)
{
    if (current->locks_left != 0 && --current->locks_left == 0) {
        if (current->byte_then != 0) {
            guard_receive(&current->cannon.guard, &current->cannon.receiver, current->byte_then);
        }
        uint8_t levels_before = current->levels;
        host_set_inputs(current, current->levels_then);
        if (!current->for_good) {
            host_set_inputs(current, levels_before);
        }
    }
}

/* An interrupt just before they are held off comes first. */
uint8_t board_lock(void)
{
    interrupt();
    return 0;
}

void board_unlock(uint8_t before) { (void)before; }

/* Asked for in the middle of a step, where nothing is held off. */
struct history *board_history(void)
{
    interrupt();
    return &current->history;
}

bool board_eeprom_ready(void) { return current->eeprom_busy_us == 0; }

uint8_t board_eeprom_read(uint16_t address) { return current->eeprom[address % EEPROM_BYTES]; }

void board_eeprom_write(uint16_t address, uint8_t byte)
{
    uint8_t *cell = &current->eeprom[address % EEPROM_BYTES];
    if (current->eeprom_busy_us != 0) {
        return; /* as the chip's does while a byte is being written */
    }
    if (current->writes_left == 0) {
        *cell = (uint8_t)(*cell ^ byte ^ 0x5Au); /* neither the old byte nor the new one */
        current->powered = false;
        return;
    }
    if (current->writes_left > 0) {
        current->writes_left--;
    }
    *cell = byte;
    current->eeprom_busy_us = EEPROM_WRITE_US;
}

void board_pull_trigger(void)
{
    current->pulls += !current->trigger;
    current->trigger = true;
}

void board_drop_trigger(void) { current->trigger = false; }

void board_set_loader(bool on) { current->loader = on; }

bool board_pins_permit_fire(void) { return interlocks_fire(current->levels) == INTERLOCKS_PASSED; }

uint32_t board_interrupt_time_us(void) { return current->now_us; }

struct host *host_new(void)
{
    struct host *host = calloc(1, sizeof *host);
    if (host != NULL) {
        memset(host->eeprom, 0xFF, sizeof host->eeprom);
        host->writes_left = -1;
        host->line_takes = UINT32_MAX;
    }
    return host;
}

void host_free(struct host *host) { free(host); }

void host_copy(struct host *to, const struct host *from) { *to = *from; }

void host_reset(struct host *host, uint8_t reset_cause)
{
    bool kept = reset_cause != WIRE_RESET_CAUSE_POWER_ON;
    struct cannon_retained retained = host->retained;
    current = host;
    host->trigger = false;
    host->loader = false;
    host->powered = true;
    host->writes_left = -1;
    host->now_us = 0;
    host->period_us = 0;
    host->eeprom_busy_us = 0;
    host->left_first.seen = false;
    host->left_second.seen = false;
    if (!kept) {
        memset(&host->history, 0xA5, sizeof host->history); /* what RAM holds when the supply comes on */
    }
    cannon_start(&host->cannon, reset_cause, kept ? &retained : NULL);
    cannon_retain(&host->cannon, &host->retained); /* the next reset may come before the first step */
}

static void fell(struct host *host, struct cannon_edge *edge, uint8_t fallen, uint8_t mask)
{
    if (fallen & mask) {
        *edge = (struct cannon_edge){host->now_us, false, true};
    }
}

void host_set_inputs(struct host *host, uint8_t levels)
{
    uint8_t fallen = (uint8_t)(host->levels & ~levels);
    current = host;
    host->levels = levels;
    if (!host->powered) {
        return;
    }
    if (fallen & INPUTS_PERMISSIONS) {
        guard_withdraw(&host->cannon.guard, &host->cannon.receiver, fallen & INPUTS_PERMISSIONS);
    }
    fell(host, &host->left_first, fallen, WIRE_INPUT_GATE_FIRST_BLOCKED_MASK);
    fell(host, &host->left_second, fallen, WIRE_INPUT_GATE_SECOND_BLOCKED_MASK);
}

void host_receive(struct host *host, const uint8_t *bytes, size_t count)
{
    current = host;
    for (size_t i = 0; i < count && host->powered; i++) {
        guard_receive(&host->cannon.guard, &host->cannon.receiver, bytes[i]);
    }
}

static void transmit(struct host *host)
{
    while (!outbox_empty(&host->cannon.outbox) && host->sent_head - host->sent_tail < SENT_BYTES &&
           host->line_takes != 0) {
        host->line_takes -= host->line_takes != UINT32_MAX;
        host->sent[host->sent_head++ % SENT_BYTES] = outbox_take(&host->cannon.outbox);
    }
}

void host_line_takes(struct host *host, uint32_t bytes)
{
    host->line_takes = bytes;
    if (host->powered) {
        transmit(host);
    }
}

void host_think(struct host *host)
{
    current = host;
    if (!host->powered) {
        return;
    }
    struct cannon_inputs inputs = {
        .now_us = host->now_us,
        .levels = host->levels,
        .left_first = host->left_first,
        .left_second = host->left_second,
    };
    host->left_first.seen = false;
    host->left_second.seen = false;
    cannon_step(&host->cannon, &inputs);
    if (!host->powered) {
        host->trigger = false;
        host->loader = false;
    }
}

void host_act(struct host *host)
{
    current = host;
    if (!host->powered) {
        return;
    }
    guard_apply(&host->cannon.guard, &host->cannon.receiver, host->cannon.outputs.trigger,
                host->cannon.outputs.loader);
    cannon_retain(&host->cannon, &host->retained);
    transmit(host);
}

void host_step(struct host *host)
{
    host_think(host);
    host_act(host);
}

static void pass(struct host *host, uint32_t duration_us)
{
    current = host;
    host->now_us += duration_us;
    host->eeprom_busy_us -= duration_us < host->eeprom_busy_us ? duration_us : host->eeprom_busy_us;
    while (host->powered && host->now_us - host->period_us >= PERIOD_US) {
        host->period_us += PERIOD_US;
        guard_period(&host->cannon.guard);
    }
}

void host_run(struct host *host, uint32_t duration_us)
{
    while (duration_us != 0) {
        uint32_t step_us = duration_us < STEP_US ? duration_us : STEP_US;
        duration_us -= step_us;
        pass(host, step_us);
        host_step(host);
    }
}

void host_hang(struct host *host, uint32_t duration_us) { pass(host, duration_us); }

size_t host_sent(struct host *host, uint8_t *bytes, size_t room)
{
    size_t count = 0;
    while (count < room && host->sent_tail != host->sent_head) {
        bytes[count++] = host->sent[host->sent_tail++ % SENT_BYTES];
    }
    return count;
}

void host_view(const struct host *host, struct host_view *view)
{
    const struct cannon *cannon = &host->cannon;
    *view = (struct host_view){
        .state = cannon->state,
        .cause = cannon->cause,
        .inputs = cannon->inputs.levels,
        .powered = host->powered,
        .trigger = host->trigger,
        .loader = host->loader,
        .armed_lamp = cannon->outputs.armed_lamp,
        .key_cycle_needed = cannon->key_cycle_needed,
        .faults = cannon->faults,
        .shots = cannon->shots,
        .now_us = host->now_us,
        .pulls = host->pulls,
        .token = cannon->token,
        .identified = cannon->identified,
        .session = cannon->session,
        .last_id = cannon->last_id,
    };
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        view->pulse_ticks[i] = host->powered ? cannon->outputs.pulse_ticks[i] : 0;
    }
}

uint16_t host_setting(const struct host *host, uint8_t setting)
{
    return setting < WIRE_SETTING_COUNT ? host->cannon.settings.values[setting] : 0;
}

uint8_t *host_eeprom(struct host *host) { return host->eeprom; }

uint8_t *host_history(struct host *host, size_t *count)
{
    *count = sizeof host->history;
    return (uint8_t *)&host->history;
}

void host_lose(struct host *host, uint8_t losses) { host->cannon.receiver.lost |= losses; }

bool host_interrupt(struct host *host, uint8_t locks, uint8_t levels, bool for_good, uint8_t byte)
{
    bool waits = host->locks_left != 0;
    host->locks_left = locks;
    host->levels_then = levels;
    host->for_good = for_good;
    host->byte_then = byte;
    return waits;
}

void host_fail_after_writes(struct host *host, int32_t writes) { host->writes_left = writes; }

uint16_t host_crc(const uint8_t *bytes, size_t count)
{
    uint16_t crc = CRC_START;
    for (size_t i = 0; i < count; i++) {
        crc = crc_add(crc, bytes[i]);
    }
    return (uint16_t)~crc;
}

uint8_t host_state_count(void) { return WIRE_STATE_COUNT; }

uint8_t host_event_count(void) { return STATE_EVENT_COUNT; }

const char *host_event_name(uint8_t event)
{
#define NAME(event) [STATE_EVENT_##event] = #event
    static const char *const names[STATE_EVENT_COUNT] = {
        NAME(HOME),         NAME(MOVE),        NAME(COCK),      NAME(LOAD),          NAME(LET_DOWN),
        NAME(ARM),          NAME(FIRE),        NAME(SERVICE),   NAME(CONFIGURE),     NAME(MAKE_SAFE),
        NAME(NEW_SESSION),  NAME(STOP_BYTE),   NAME(KEY_OFF),   NAME(LANE_NOT_CLEAR), NAME(EMERGENCY_STOP),
        NAME(HEARTBEAT_LOST), NAME(DONE),      NAME(TIMED_OUT), NAME(LATCH_LOST),    NAME(LOAD_LOST),
        NAME(DWELL_EXPIRED), NAME(ARM_EXPIRED), NAME(BAD_TOKEN), NAME(SHOT_SEEN),    NAME(SHOT_NOT_SEEN),
        NAME(HOLD_EXPIRED),
    };
#undef NAME
    return event < STATE_EVENT_COUNT ? names[event] : "";
}
