/* Every state that the core can come into, and every promise of SAFETY.md that a state or a step can break.
 *
 *     explore WORLD THINGS [check EACH] [pairs COUNT]
 *
 * From power-on, in each millisecond up to THINGS things of the list below happen in every order, then the main loop
 * runs; this is repeated from every new state until there is none. The core is the real one, compiled for the PC; the
 * board around it is a few lines here.
 *
 * From every state with the spring loaded it also looks where time alone leads, with nobody there: the lever must be let
 * down. What is kept of a state, what is only kept in classes and why this loses nothing is said in SAFETY.md. `check`
 * proves the classes: each new state (or every so many of them) goes on once as it came and once as the one that stands
 * for its class, through every thing, and both must come out in the same class. `pairs` then takes so many states and
 * two things of one millisecond at random; states that nothing else led to are explored too.
 *
 * Exit status: 0 all promises kept, 1 a promise broken (the shortest way there is printed), 2 wrong use, 3 a state does
 * not fit what is kept of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "cannon.h"
#include "commands.h"
#include "interlocks.h"

/* -- the world: a cannon, its pins, and what a promise must remember ----------------------------------------------- */

#define START_US 1000000u
#define RUNNING_MS 30000u /* stands for any time left */
#define TOKEN 0x11223344u /* stands for the token of the arming now */
#define STALE_TOKEN 0x55667788u
#define SEED 0x12345678u
#define SESSION 1u

/* A ramp has few steps and yet a middle: drawing 1000, 1100, 1150; easing 50 at a time; latch 1000, 1100, 1200, 1300.
 * In the worlds that are about something else it has one step. */
#define REST_TICKS 1000u
#define DRAW_GRID_TICKS 50u
#define FREE_TICKS 1000u
#define HELD_TICKS 1200u
#define LUBRICATE_TICKS 1300u
#define LATCH_GRID_TICKS 100u
#define HOME_TICKS 1000u
#define AWAY_TICKS 1100u

/* Settings that a world may change, each to one of two values; both may leave an axis outside its limits. */
struct choice {
    uint8_t setting;
    uint16_t ticks[2];
};
static const struct choice choices[] = {
    {WIRE_SETTING_AZIMUTH_MAX_TICKS, {AWAY_TICKS, HOME_TICKS}},
    {WIRE_SETTING_DRAW_REST_TICKS, {REST_TICKS, REST_TICKS + DRAW_GRID_TICKS}},
};
#define CHOICE_COUNT (sizeof choices / sizeof choices[0])

#define EEPROM_BYTES 256u

/* Kinds of things that a world may be without. */
enum group {
    ALWAYS = 0,
    SHOOTING = 1,  /* arming, fire, lane, what is in the muzzle */
    LOADER = 2,
    PIECES = 4,    /* frames that come in two pieces */
    AIMING = 8,
    SERVICING = 16,
    BEHIND = 32,   /* interrupts between the core and its outputs */
    ALL_AXES = 64, /* traverse and elevation move too */
    SETTINGS = 128,
};

/* All of it at once does not fit: each world has what belongs together. */
struct kind_of_world {
    const char *name;
    uint8_t trigger_kind; /* 0 solenoid, 1 latch servo */
    uint16_t breech_ticks, draw_ticks, ease_ticks, latch_ticks; /* where the breech is, and speeds */
    uint8_t groups; /* things beside those of every world, bits of enum group */
    uint16_t reaches; /* the states that it must come into, or it would prove nothing; bits by enum wire_state */
};

enum frame_begun { BEGUN_NOTHING, BEGUN_FIRE, BEGUN_STALE_FIRE };

struct world {
    struct cannon cannon;
    struct cannon_edge left_first, left_second;
    uint8_t levels; /* of the input pins in this millisecond */
    bool trigger, loader; /* pins */
    uint8_t begun;        /* enum frame_begun: all of a frame but its flag has come */
    uint8_t shots;        /* since the last arming */
    bool turn_needed;     /* an emergency stop came, and the key was not turned since */
    bool key_was_off;     /* for long enough */
    uint8_t chosen;       /* settings in use, bits by index of choices */
    uint8_t stored;       /* settings in EEPROM, likewise */
};

/* What happened in a millisecond, beside the worlds before and after it. */
struct moment {
    uint8_t lost;          /* permissions that were gone for an instant at least */
    bool stopped;          /* a stop byte came ... */
    bool frame_after_stop; /* ... and then a whole command */
    bool frame;            /* a command's last byte came */
    uint8_t ids;           /* used up by commands that the main loop has not seen yet */
    bool safe_last;        /* the last of them asked for safe */
    bool new_session;      /* ... or was a new controller */
    bool fire_right;       /* one was a fire with this arming's token and the next id */
    bool reset;
    bool armed;
    bool between;          /* an interrupt spoke against it after the core had run */
    bool pulled, pulled_in_interrupt;
    bool denied_at_pull;   /* an interlock was missing on the pins then, or a stop had come */
    bool late;             /* an interrupt left an output on that it should have dropped */
    uint16_t due;          /* bits by enum timer: due when the main loop ran */
};

static struct world now;
static struct moment moment;
static struct cannon_retained retained;
static bool in_interrupt;
static const struct kind_of_world *kind_of_world;
static uint8_t eeprom[EEPROM_BYTES];
#define EEPROM_UNKNOWN 0xFFu
static uint8_t eeprom_chosen; /* the choices in the settings there */

uint8_t board_kind(void) { return WIRE_BOARD_HOST; }
uint8_t board_lock(void) { return 0; }
void board_unlock(uint8_t before) { (void)before; }
struct history *board_history(void)
{
    static struct history history; /* nothing that the core does depends on it */
    return &history;
}
bool board_eeprom_ready(void) { return true; }
uint8_t board_eeprom_read(uint16_t address) { return eeprom[address % EEPROM_BYTES]; }
void board_eeprom_write(uint16_t address, uint8_t byte)
{
    eeprom[address % EEPROM_BYTES] = byte;
    eeprom_chosen = EEPROM_UNKNOWN;
}
void board_drop_trigger(void) { now.trigger = false; }
void board_set_loader(bool on) { now.loader = on; }
bool board_pins_permit_fire(void) { return interlocks_fire(now.levels) == INTERLOCKS_PASSED; }
uint32_t board_interrupt_time_us(void) { return now.cannon.now_us; }

/* What every pin must say when a shot is released: written down here once more, so that the core's interlocks are not
 * held against themselves. */
static bool pins_right(uint8_t levels)
{
    const uint8_t needed = WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK | WIRE_INPUT_LANE_CLEAR_MASK |
                           WIRE_INPUT_LEVER_LATCHED_MASK | WIRE_INPUT_GATE_FIRST_BLOCKED_MASK;
    return (levels & needed) == needed && !(levels & WIRE_INPUT_GATE_SECOND_BLOCKED_MASK);
}

static void note_shot(void)
{
    moment.pulled = true;
    moment.pulled_in_interrupt = in_interrupt;
    moment.denied_at_pull = !pins_right(now.levels) || moment.stopped || moment.between;
    now.shots = (uint8_t)(now.shots < 3u ? now.shots + 1u : 3u);
}

void board_pull_trigger(void)
{
    if (!now.trigger) {
        note_shot();
    }
    now.trigger = true;
}

/* How far an aiming axis may go in this world. */
static uint16_t far_ticks(uint8_t axis)
{
    return axis == WIRE_AXIS_AZIMUTH || kind_of_world->groups & ALL_AXES ? AWAY_TICKS : HOME_TICKS;
}

static void choose(struct settings *settings, uint8_t chosen)
{
    for (uint8_t i = 0; i < CHOICE_COUNT; i++) {
        settings->values[choices[i].setting] = choices[i].ticks[chosen >> i & 1u];
    }
}

static uint8_t chosen_of(const struct settings *settings)
{
    uint8_t chosen = 0;
    for (uint8_t i = 0; i < CHOICE_COUNT; i++) {
        chosen = (uint8_t)(chosen | (settings->values[choices[i].setting] != choices[i].ticks[0]) << i);
    }
    return chosen;
}

/* The settings of this world. */
static void set_up(struct settings *settings, uint8_t chosen)
{
    uint16_t *values = settings->values;
    settings_factory(settings);
    for (uint8_t axis = 0; axis < AXES_AIMING; axis++) {
        values[axis * AXES_SETTINGS] = HOME_TICKS;
        values[axis * AXES_SETTINGS + 1u] = far_ticks(axis);
        values[axis * AXES_SETTINGS + 2u] = HOME_TICKS;
        values[axis * AXES_SETTINGS + 3u] = AWAY_TICKS - HOME_TICKS;
    }
    values[WIRE_SETTING_DRAW_REST_TICKS] = REST_TICKS;
    values[WIRE_SETTING_DRAW_BREECH_TICKS] = kind_of_world->breech_ticks;
    values[WIRE_SETTING_DRAW_SPEED_TICKS] = kind_of_world->draw_ticks;
    values[WIRE_SETTING_DRAW_EASE_SPEED_TICKS] = kind_of_world->ease_ticks;
    values[WIRE_SETTING_LATCH_FREE_TICKS] = FREE_TICKS;
    values[WIRE_SETTING_LATCH_HELD_TICKS] = HELD_TICKS;
    values[WIRE_SETTING_LATCH_LUBRICATE_TICKS] = LUBRICATE_TICKS;
    values[WIRE_SETTING_LATCH_SPEED_TICKS] = kind_of_world->latch_ticks;
    values[WIRE_SETTING_TRIGGER_KIND] = kind_of_world->trigger_kind;
    values[WIRE_SETTING_LOADER_PRESENT] = (kind_of_world->groups & LOADER) != 0;
    choose(settings, chosen);
}

/* ... put where the core reads them after every reset. */
static void store_settings(uint8_t chosen)
{
    struct settings settings;
    struct store store = {.copy = 1};
    set_up(&settings, chosen);
    memset(eeprom, 0xFF, sizeof eeprom);
    store_save(&store);
    while (!store_step(&store, &settings)) {
    }
    eeprom_chosen = chosen;
}

static void reset(uint8_t cause)
{
    bool kept = cause != WIRE_RESET_CAUSE_POWER_ON;
    cannon_retain(&now.cannon, &retained);
    now.trigger = false;
    now.loader = false;
    now.begun = BEGUN_NOTHING;
    now.left_first.seen = now.left_second.seen = false;
    /* A save that was under way has left the old settings: S-12 is a matter of test_stored_settings.py. */
    if (eeprom_chosen != now.stored) {
        store_settings(now.stored);
    }
    now.chosen = now.stored;
    cannon_start(&now.cannon, cause, kept ? &retained : NULL);
    if (now.cannon.settings_source != WIRE_SETTINGS_SOURCE_STORED) {
        fputs("explore: the core does not take the settings of this world\n", stderr);
        exit(3);
    }
    now.cannon.now_us = now.cannon.tick_us = START_US;
    if (!kept) {
        now.turn_needed = false;
    }
    now.key_was_off = false;
}

/* -- the line ------------------------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t byte[24];
    uint8_t count;
};

static void put_byte(struct bytes *bytes, uint8_t byte)
{
    if (byte == WIRE_FLAG || byte == WIRE_ESCAPE || byte == WIRE_STOP) {
        bytes->byte[bytes->count++] = WIRE_ESCAPE;
        byte ^= WIRE_ESCAPE_XOR;
    }
    bytes->byte[bytes->count++] = byte;
}

/* A frame without its flag, for whoever listens. */
static struct bytes frame_of(const struct receiver *to, uint8_t sequence, uint8_t type, const uint8_t *payload, uint8_t length)
{
    struct bytes bytes = {{0}, 0};
    uint16_t start = type == WIRE_COMMAND_IDENTIFY ? CRC_START : to->crc_start;
    uint16_t crc = crc_add(crc_add(start, sequence), type);
    put_byte(&bytes, sequence);
    put_byte(&bytes, type);
    for (uint8_t i = 0; i < length; i++) {
        crc = crc_add(crc, payload[i]);
        put_byte(&bytes, payload[i]);
    }
    crc = (uint16_t)~crc;
    put_byte(&bytes, (uint8_t)crc);
    put_byte(&bytes, (uint8_t)(crc >> 8));
    return bytes;
}

static struct bytes fire_of(const struct receiver *to, uint8_t sequence, uint32_t token)
{
    const uint8_t payload[] = {(uint8_t)token, (uint8_t)(token >> 8), (uint8_t)(token >> 16), (uint8_t)(token >> 24)};
    return frame_of(to, sequence, WIRE_COMMAND_FIRE, payload, sizeof payload);
}

/* As the cannon keeps it of a frame, to know the same one again. */
static uint16_t crc_of_fire(const struct receiver *to, uint8_t sequence, uint32_t token)
{
    uint16_t crc = crc_add(crc_add(to->crc_start, sequence), WIRE_COMMAND_FIRE);
    for (uint8_t i = 0; i < WIRE_COMMAND_FIRE_LENGTH; i++) {
        crc = crc_add(crc, (uint8_t)(token >> (8u * i)));
    }
    return (uint16_t)~crc;
}

static void interrupt(uint8_t byte)
{
    in_interrupt = true;
    guard_receive(&now.cannon.guard, &now.cannon.receiver, byte);
    in_interrupt = false;
}

static void receive(const struct bytes *bytes)
{
    for (uint8_t i = 0; i < bytes->count; i++) {
        interrupt(bytes->byte[i]);
    }
}

static uint8_t last_id(void) { return (uint8_t)(now.cannon.last_id + moment.ids); }

static void flag(void)
{
    moment.frame = true;
    interrupt(WIRE_FLAG);
}

static void send(uint8_t type, const uint8_t *payload, uint8_t length)
{
    struct bytes bytes = frame_of(&now.cannon.receiver, (uint8_t)(last_id() + 1u), type, payload, length);
    moment.ids++;
    moment.safe_last = type == WIRE_COMMAND_SAFE;
    moment.new_session = type == WIRE_COMMAND_IDENTIFY;
    moment.frame_after_stop = moment.stopped;
    receive(&bytes);
    flag();
}

static void send_fire(uint8_t step, uint32_t token)
{
    uint8_t id = (uint8_t)(last_id() + step);
    struct bytes bytes = fire_of(&now.cannon.receiver, id, token);
    /* A command that waits may have the same id, though no controller gives one twice: the cannon takes either. */
    bool next = step == 1u || id == (uint8_t)(now.cannon.last_id + 1u);
    moment.ids = (uint8_t)(moment.ids + (step == 1u));
    moment.safe_last = moment.new_session = false;
    moment.fire_right = moment.fire_right || (next && token == now.cannon.token);
    moment.frame_after_stop = moment.stopped;
    receive(&bytes);
    flag();
}

/* -- things that happen --------------------------------------------------------------------------------------------- */

enum kind {
    COMMAND,       /* a command without payload */
    MOVE,          /* the axis of the upper digits to so many ticks */
    CONFIGURE,     /* the choice of the argument's half to its other value */
    IDENTIFY,      /* a new controller; its wire version is off by the argument */
    FIRE,          /* with this arming's token, so many ids on */
    STALE_FIRE,    /* with a token of an earlier arming and the next id */
    SLOW_FIRE,     /* right behind a status, so that the main loop has to do it */
    BEGIN,         /* all of a fire command but the flag: enum frame_begun */
    FLAG,          /* what ends it */
    STOP,          /* the stop byte */
    STOP_BETWEEN,  /* ... after the core has run and before its outputs are made true */
    DIFFERS,       /* an input's pin is other than the core believes; permissions are lost at once */
    SETTLES,       /* ... for long enough to be believed */
    GLITCH,        /* a permission is gone and back again before the main loop runs */
    LOST_BETWEEN,  /* ... or goes after the core has run */
    LEFT,          /* the shot leaves barrier 0 or 1 */
    DUE,           /* a timer runs out: enum timer */
    ARRIVES,       /* the lever's servos have arrived */
    HANG,          /* the main loop hung until the interrupt's own limit: 0 trigger, 1 loader */
    SAVED,         /* the last byte of the settings is in EEPROM */
    RESET,
};

#define MOVE_BITS 12u /* of a move's argument: ticks */

struct thing {
    const char *name;
    uint8_t kind;
    uint16_t argument;
    uint8_t group; /* bits of enum group: the world must be about all of it */
};

static const struct thing things[] = {
    {"home", COMMAND, WIRE_COMMAND_HOME, ALWAYS},
    {"cock", COMMAND, WIRE_COMMAND_COCK, ALWAYS},
    {"load", COMMAND, WIRE_COMMAND_LOAD, LOADER},
    {"let_down", COMMAND, WIRE_COMMAND_LET_DOWN, ALWAYS},
    {"arm", COMMAND, WIRE_COMMAND_ARM, SHOOTING},
    {"safe", COMMAND, WIRE_COMMAND_SAFE, ALWAYS},
    {"service", COMMAND, WIRE_COMMAND_SERVICE, SERVICING},
    {"status", COMMAND, WIRE_COMMAND_STATUS, ALWAYS},
    {"move azimuth away", MOVE, WIRE_AXIS_AZIMUTH << MOVE_BITS | AWAY_TICKS, AIMING},
    {"move azimuth home", MOVE, WIRE_AXIS_AZIMUTH << MOVE_BITS | HOME_TICKS, AIMING},
    {"move azimuth too far", MOVE, WIRE_AXIS_AZIMUTH << MOVE_BITS | (AWAY_TICKS + 1u), AIMING},
    {"move traverse away", MOVE, WIRE_AXIS_TRAVERSE << MOVE_BITS | AWAY_TICKS, ALL_AXES},
    {"move traverse home", MOVE, WIRE_AXIS_TRAVERSE << MOVE_BITS | HOME_TICKS, ALL_AXES},
    {"move elevation away", MOVE, WIRE_AXIS_ELEVATION << MOVE_BITS | AWAY_TICKS, ALL_AXES},
    {"move elevation home", MOVE, WIRE_AXIS_ELEVATION << MOVE_BITS | HOME_TICKS, ALL_AXES},
    {"move draw", MOVE, WIRE_AXIS_DRAW << MOVE_BITS | AWAY_TICKS, ALL_AXES},
    {"move latch", MOVE, WIRE_AXIS_LATCH << MOVE_BITS | FREE_TICKS, ALL_AXES},
    {"configure azimuth's limit", CONFIGURE, 0, SETTINGS},
    {"configure the draw's rest", CONFIGURE, 1, SETTINGS},
    {"save_settings", COMMAND, WIRE_COMMAND_SAVE_SETTINGS, SETTINGS},
    {"settings are saved", SAVED, 0, SETTINGS},
    {"identify", IDENTIFY, 0, ALWAYS},
    {"identify, another wire", IDENTIFY, 1, ALWAYS},
    {"fire", FIRE, 1, SHOOTING},
    {"fire once more", FIRE, 0, SHOOTING},
    {"fire out of turn", FIRE, 2, SHOOTING},
    {"fire, old token", STALE_FIRE, 1, SHOOTING},
    {"status and fire", SLOW_FIRE, 1, SHOOTING},
    {"fire without flag", BEGIN, BEGUN_FIRE, PIECES},
    {"fire, old token, without flag", BEGIN, BEGUN_STALE_FIRE, PIECES},
    {"flag", FLAG, 0, PIECES},
    {"stop byte", STOP, 0, ALWAYS},
    {"stop byte behind the core", STOP_BETWEEN, 0, BEHIND},
    {"emergency stop circuit differs", DIFFERS, WIRE_INPUT_ESTOP_OK_MASK, ALWAYS},
    {"key differs", DIFFERS, WIRE_INPUT_KEY_ON_MASK, ALWAYS},
    {"lane differs", DIFFERS, WIRE_INPUT_LANE_CLEAR_MASK, SHOOTING},
    {"lever drawn differs", DIFFERS, WIRE_INPUT_LEVER_DRAWN_MASK, ALWAYS},
    {"lever latched differs", DIFFERS, WIRE_INPUT_LEVER_LATCHED_MASK, ALWAYS},
    {"inner barrier differs", DIFFERS, WIRE_INPUT_GATE_FIRST_BLOCKED_MASK, SHOOTING},
    {"outer barrier differs", DIFFERS, WIRE_INPUT_GATE_SECOND_BLOCKED_MASK, SHOOTING},
    {"emergency stop circuit closes for good", SETTLES, WIRE_INPUT_ESTOP_OK_MASK, ALWAYS},
    {"key comes on for good", SETTLES, WIRE_INPUT_KEY_ON_MASK, ALWAYS},
    {"lane is clear for good", SETTLES, WIRE_INPUT_LANE_CLEAR_MASK, SHOOTING},
    {"lever drawn changes", SETTLES, WIRE_INPUT_LEVER_DRAWN_MASK, ALWAYS},
    {"lever latched changes", SETTLES, WIRE_INPUT_LEVER_LATCHED_MASK, ALWAYS},
    {"inner barrier changes", SETTLES, WIRE_INPUT_GATE_FIRST_BLOCKED_MASK, SHOOTING},
    {"outer barrier changes", SETTLES, WIRE_INPUT_GATE_SECOND_BLOCKED_MASK, SHOOTING},
    {"emergency stop circuit opens and closes", GLITCH, WIRE_INPUT_ESTOP_OK_MASK, ALWAYS},
    {"key off and on", GLITCH, WIRE_INPUT_KEY_ON_MASK, ALWAYS},
    {"lane not clear and clear", GLITCH, WIRE_INPUT_LANE_CLEAR_MASK, SHOOTING},
    {"emergency stop behind the core", LOST_BETWEEN, WIRE_INPUT_ESTOP_OK_MASK, BEHIND},
    {"key off behind the core", LOST_BETWEEN, WIRE_INPUT_KEY_ON_MASK, BEHIND},
    {"lane not clear behind the core", LOST_BETWEEN, WIRE_INPUT_LANE_CLEAR_MASK, BEHIND},
    {"shot leaves the inner barrier", LEFT, 0, SHOOTING},
    {"shot leaves the outer barrier", LEFT, 1, SHOOTING},
    {"controller silent", DUE, TIMER_HEARD, ALWAYS},
    {"dwell over", DUE, TIMER_DWELL, ALWAYS},
    {"work takes too long", DUE, TIMER_WORK, ALWAYS},
    {"aim settled", DUE, TIMER_AIM_SETTLED, ALWAYS},
    {"arming over", DUE, TIMER_ARMED, SHOOTING},
    {"trigger's hold over", DUE, TIMER_TRIGGER, SHOOTING},
    {"shot's time over", DUE, TIMER_SHOT, SHOOTING},
    {"loader's time over", DUE, TIMER_LOADER, LOADER},
    {"key was off for long", DUE, TIMER_KEY_OFF, ALWAYS},
    {"servo period", DUE, TIMER_PERIOD, ALWAYS},
    {"lever's servos arrive", ARRIVES, 0, ALWAYS},
    {"main loop hangs, trigger on", HANG, 0, SHOOTING},
    {"main loop hangs, loader on", HANG, 1, LOADER},
    {"power fails and comes back", RESET, WIRE_RESET_CAUSE_POWER_ON, ALWAYS},
    {"watchdog", RESET, WIRE_RESET_CAUSE_WATCHDOG, ALWAYS},
    {"brown-out", RESET, WIRE_RESET_CAUSE_BROWN_OUT, ALWAYS},
    {"reset line", RESET, WIRE_RESET_CAUSE_EXTERNAL, ALWAYS},
};
#define THING_COUNT (sizeof things / sizeof things[0])
#define MOST_THINGS 3u

#define EVERY_STATE ((1u << WIRE_STATE_COUNT) - 1u)
#define NO_SERVICE (EVERY_STATE & ~(1u << WIRE_STATE_SERVICE))
#define NO_SHOT (EVERY_STATE & ~(1u << WIRE_STATE_ARMED) & ~(1u << WIRE_STATE_FIRING))

static const struct kind_of_world worlds[] = {
    {"shot", 0, 1100, 100, 100, 200, SHOOTING | BEHIND, NO_SERVICE},
    {"pieces", 0, 1100, 100, 100, 200, SHOOTING | PIECES, NO_SERVICE},
    {"loader", 0, 1100, 100, 100, 200, LOADER | SHOOTING, NO_SERVICE},
    {"aim", 0, 1100, 100, 100, 200, AIMING | SHOOTING, NO_SERVICE},
    {"lever", 0, 1150, 100, 50, 100, SERVICING | AIMING, NO_SHOT},
    {"latch", 1, 1100, 100, 100, 100, SHOOTING, NO_SERVICE},
    {"axes", 0, 1100, 100, 100, 200, AIMING | ALL_AXES, NO_SHOT & NO_SERVICE},
    {"settings", 0, 1100, 100, 100, 200, AIMING | SETTINGS, NO_SHOT & NO_SERVICE},
};
#define WORLD_COUNT (sizeof worlds / sizeof worlds[0])
#define NO_THING 0xFFu

/* Pins as they are, from here on; what interrupts do about it. A permission is seen to go even if the core did not
 * believe in it. */
static void set_pins(uint8_t levels)
{
    uint8_t fallen = (uint8_t)(now.levels & ~levels & INPUTS_PERMISSIONS);
    now.levels = levels;
    if (fallen != 0) {
        guard_withdraw(&now.cannon.guard, &now.cannon.receiver, fallen);
        moment.lost |= fallen;
        moment.late = moment.late || now.trigger;
    }
}

static void stop_byte(void)
{
    moment.stopped = true;
    moment.frame_after_stop = false;
    interrupt(WIRE_STOP);
    moment.late = moment.late || now.trigger;
}

static bool on_the_line(uint8_t kind) { return kind <= BEGIN; }

/* Let a thing happen before the main loop runs. False when it cannot happen now, or would change nothing. */
static bool happens(const struct thing *thing)
{
    struct cannon *cannon = &now.cannon;
    uint8_t mask = (uint8_t)thing->argument;
    uint16_t *left_ms = cannon->timers.left_ms;
    if (thing->group & ~kind_of_world->groups) {
        return false;
    }
    if (on_the_line(thing->kind) && now.begun != BEGUN_NOTHING) {
        return false; /* a frame that has begun ends before the next begins */
    }
    if (on_the_line(thing->kind) && moment.new_session) {
        return false; /* it would be of the session before, with a checksum that is wrong by now: no frame */
    }
    switch (thing->kind) {
    case COMMAND:
        send((uint8_t)thing->argument, NULL, 0);
        return true;
    case MOVE: {
        uint16_t ticks = thing->argument & ((1u << MOVE_BITS) - 1u);
        const uint8_t payload[] = {(uint8_t)(thing->argument >> MOVE_BITS), (uint8_t)ticks, (uint8_t)(ticks >> 8)};
        send(WIRE_COMMAND_MOVE, payload, sizeof payload);
        return true;
    }
    case CONFIGURE: {
        const struct choice *choice = &choices[thing->argument];
        uint16_t ticks = choice->ticks[!(now.chosen >> thing->argument & 1u)];
        const uint8_t payload[] = {choice->setting, (uint8_t)ticks, (uint8_t)(ticks >> 8)};
        send(WIRE_COMMAND_CONFIGURE, payload, sizeof payload);
        return true;
    }
    case SAVED:
        if (!cannon->store.writing) {
            return false;
        }
        while (cannon->store.position < STORE_RECORD_BYTES) {
            store_step(&cannon->store, &cannon->settings);
        }
        now.stored = chosen_of(&cannon->settings);
        return true;
    case IDENTIFY: {
        const uint8_t payload[] = {(uint8_t)(WIRE_VERSION + thing->argument),
                                   (uint8_t)(cannon->session + 1u), 0};
        send(WIRE_COMMAND_IDENTIFY, payload, sizeof payload);
        return true;
    }
    case FIRE:
        send_fire((uint8_t)thing->argument, cannon->token);
        return true;
    case STALE_FIRE:
        send_fire((uint8_t)thing->argument, STALE_TOKEN);
        return true;
    case SLOW_FIRE:
        send(WIRE_COMMAND_STATUS, NULL, 0);
        send_fire((uint8_t)thing->argument, cannon->token);
        return true;
    case BEGIN: {
        struct bytes bytes =
            fire_of(&cannon->receiver, (uint8_t)(last_id() + 1u),
                    thing->argument == BEGUN_FIRE ? cannon->token : STALE_TOKEN);
        receive(&bytes);
        now.begun = (uint8_t)thing->argument;
        return true;
    }
    case FLAG:
        if (now.begun == BEGUN_NOTHING) {
            return false;
        }
        moment.safe_last = moment.new_session = false;
        moment.fire_right = moment.fire_right || now.begun == BEGUN_FIRE;
        now.begun = BEGUN_NOTHING;
        moment.ids++;
        flag();
        return true;
    case STOP:
        stop_byte();
        return true;
    case DIFFERS:
        set_pins(now.levels ^ mask);
        return true;
    case SETTLES:
        if (mask & INPUTS_PERMISSIONS & cannon->inputs.levels) {
            return false; /* lost at once: no debouncing */
        }
        set_pins(now.levels ^ mask);
        cannon->inputs.count_low |= mask;
        cannon->inputs.count_high |= mask;
        return true;
    case GLITCH:
        if (!(now.levels & mask)) {
            return false;
        }
        set_pins(now.levels ^ mask);
        set_pins(now.levels ^ mask);
        return true;
    case LEFT: {
        struct cannon_edge *edge = thing->argument == 0 ? &now.left_first : &now.left_second;
        if (cannon->state != WIRE_STATE_FIRING && cannon->state != WIRE_STATE_ARMED) {
            return false; /* nobody looks */
        }
        *edge = (struct cannon_edge){cannon->now_us, false, true};
        return true;
    }
    case DUE:
        if (left_ms[thing->argument] == 0) {
            return false;
        }
        left_ms[thing->argument] = 1;
        return true;
    case ARRIVES:
        if (cannon->lever.settle_periods == 0) {
            return false;
        }
        cannon->lever.settle_periods = 0;
        return true;
    case HANG: {
        volatile uint8_t *left =
            thing->argument == 0 ? &cannon->guard.trigger_periods_left : &cannon->guard.loader_periods_left;
        if (*left == 0) {
            return false;
        }
        *left = 1;
        guard_period(&cannon->guard);
        moment.late = moment.late || (thing->argument == 0 ? now.trigger : now.loader);
        return true;
    }
    case RESET:
        reset((uint8_t)thing->argument);
        moment = (struct moment){.reset = true};
        return true;
    default:
        return true; /* comes later */
    }
}

static void happens_between(const struct thing *thing)
{
    if (thing->kind == STOP_BETWEEN) {
        interrupt(WIRE_STOP);
    } else if (thing->kind == LOST_BETWEEN && now.levels & thing->argument) {
        now.levels = (uint8_t)(now.levels & ~thing->argument);
        guard_withdraw(&now.cannon.guard, &now.cannon.receiver, (uint8_t)thing->argument);
    } else {
        return;
    }
    moment.between = true;
    moment.late = moment.late || now.trigger;
}

/* The main loop runs once. Commands that have to wait for the line are done too, as if it were fast. */
static void step_core(void)
{
    struct cannon *cannon = &now.cannon;
    struct cannon_inputs inputs = {cannon->tick_us + 1000u, now.levels, now.left_first, now.left_second};
    uint32_t token = cannon->token;
    now.left_first.seen = now.left_second.seen = false;
    for (uint8_t i = 0; i < TIMER_COUNT; i++) {
        moment.due = (uint16_t)(moment.due | (cannon->timers.left_ms[i] <= 1u) << i);
    }
    bool armed = cannon->state == WIRE_STATE_ARMED;
    do {
        cannon_step(cannon, &inputs);
        cannon->outbox.tail = cannon->outbox.head;
        inputs.left_first.seen = inputs.left_second.seen = false;
    } while (cannon->receiver.head != cannon->receiver.tail && !cannon->receiver.stopped);
    now.chosen = chosen_of(&cannon->settings);
    if (cannon->token != token) {
        moment.armed = true;
        now.shots = 0;
    }
    if (kind_of_world->trigger_kind == 1 && cannon->state == WIRE_STATE_FIRING && armed) {
        note_shot();
    }
}

/* The key, seen from outside: needed after an emergency stop, done by being off for long and then on with the stop
 * released. */
static void watch_turn(void)
{
    const struct cannon *cannon = &now.cannon;
    if (moment.due & 1u << TIMER_KEY_OFF) {
        now.key_was_off = true;
    }
    if (cannon->inputs.levels & now.levels & WIRE_INPUT_KEY_ON_MASK) {
        if (now.key_was_off && cannon->inputs.levels & WIRE_INPUT_ESTOP_OK_MASK) {
            now.turn_needed = false;
        }
        now.key_was_off = false;
    }
}

/* One millisecond. False when the things do not go together. */
static bool pass_millisecond(const uint8_t *chosen)
{
    moment = (struct moment){.stopped = now.cannon.receiver.stopped, .lost = now.cannon.guard.lost};
    now.levels = now.cannon.inputs.levels;
    for (uint8_t i = 0; i < MOST_THINGS && chosen[i] != NO_THING; i++) {
        if (!happens(&things[chosen[i]])) {
            return false;
        }
    }
    moment.lost |= (uint8_t)(now.cannon.inputs.levels & ~now.levels & INPUTS_PERMISSIONS);
    bool stopped = (moment.lost | (INPUTS_PERMISSIONS & ~now.levels)) & WIRE_INPUT_ESTOP_OK_MASK;
    step_core();
    watch_turn();
    now.turn_needed = now.turn_needed || stopped;
    for (uint8_t i = 0; i < MOST_THINGS && chosen[i] != NO_THING; i++) {
        happens_between(&things[chosen[i]]);
    }
    guard_apply(&now.cannon.guard, &now.cannon.receiver, now.cannon.outputs.trigger, now.cannon.outputs.loader);
    return true;
}

/* -- what is kept of a state ---------------------------------------------------------------------------------------- */

#define KEY_WORDS 3u

struct key {
    uint64_t word[KEY_WORDS];
};

struct packer {
    struct key key;
    unsigned at;
    bool misfit;
};

static void pack_bits(struct packer *packer, unsigned bits, uint32_t value)
{
    if (value >> bits) {
        packer->misfit = true;
        return;
    }
    if (packer->at % 64u + bits > 64u) {
        packer->at += 64u - packer->at % 64u;
    }
    packer->key.word[packer->at / 64u] |= (uint64_t)value << packer->at % 64u;
    packer->at += bits;
}

static uint32_t unpack_bits(struct packer *packer, unsigned bits)
{
    if (packer->at % 64u + bits > 64u) {
        packer->at += 64u - packer->at % 64u;
    }
    uint32_t value = (uint32_t)(packer->key.word[packer->at / 64u] >> packer->at % 64u) & ((1u << bits) - 1u);
    packer->at += bits;
    return value;
}

/* EXACT(bits, what): as it is. STEPS(bits, what, zero, step): a position on its grid. RUNNING(what, value, live): only
 * whether it is zero, and not even that when nobody reads it before it is set again; `value` stands for all others. */
#define KEPT(EXACT, STEPS, RUNNING)                                                                                    \
    EXACT(4, cannon.state)                                                                                             \
    EXACT(3, cannon.lever.task)                                                                                        \
    EXACT(3, cannon.lever.step)                                                                                        \
    EXACT(1, cannon.lever.easing)                                                                                      \
    RUNNING(cannon.lever.settle_periods, 9u, true)                                                                     \
    EXACT(1, cannon.working)                                                                                           \
    EXACT(1, cannon.loading)                                                                                           \
    EXACT(1, cannon.held)                                                                                              \
    EXACT(1, cannon.identified)                                                                                        \
    EXACT(1, cannon.wire_agreed)                                                                                       \
    EXACT(1, cannon.key_cycle_needed)                                                                                  \
    EXACT(1, cannon.fired_ahead)                                                                                       \
    EXACT(1, cannon.outputs.trigger)                                                                                   \
    EXACT(1, cannon.outputs.loader)                                                                                    \
    EXACT(1, cannon.outputs.armed_lamp)                                                                                \
    EXACT(7, cannon.inputs.levels)                                                                                     \
    EXACT(7, cannon.guard.lost)                                                                                        \
    EXACT(1, cannon.guard.hold_expired)                                                                                \
    EXACT(1, cannon.guard.loader_applied)                                                                              \
    RUNNING(cannon.guard.trigger_periods_left, GUARD_TRIGGER_PERIODS, true)                                            \
    RUNNING(cannon.guard.loader_periods_left, GUARD_LOADER_PERIODS, true)                                              \
    EXACT(1, cannon.receiver.stopped)                                                                                  \
    EXACT(1, cannon.receiver.fuse_live)                                                                                \
    EXACT(1, cannon.receiver.fuse_fired)                                                                               \
    EXACT(1, cannon.receiver.matches)                                                                                  \
    EXACT(1, cannon.receiver.primed)                                                                                   \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_AZIMUTH].position_ticks, HOME_TICKS, 100u)                                     \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_AZIMUTH].target_ticks, HOME_TICKS, 100u)                                       \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_DRAW].position_ticks, REST_TICKS, DRAW_GRID_TICKS)                                  \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_DRAW].target_ticks, REST_TICKS, DRAW_GRID_TICKS)                                    \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_LATCH].position_ticks, FREE_TICKS, LATCH_GRID_TICKS)                                \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_LATCH].target_ticks, FREE_TICKS, LATCH_GRID_TICKS)                                  \
    EXACT(1, cannon.axes.axis[WIRE_AXIS_TRAVERSE].powered)                                                             \
    EXACT(1, cannon.axes.axis[WIRE_AXIS_AZIMUTH].powered)                                                              \
    EXACT(1, cannon.axes.axis[WIRE_AXIS_ELEVATION].powered)                                                            \
    EXACT(1, cannon.axes.axis[WIRE_AXIS_DRAW].powered)                                                                 \
    EXACT(1, cannon.axes.axis[WIRE_AXIS_LATCH].powered)                                                                \
    RUNNING(cannon.timers.left_ms[TIMER_HEARD], RUNNING_MS, at_work(world))                                            \
    RUNNING(cannon.timers.left_ms[TIMER_DWELL], RUNNING_MS, world->cannon.held)                                        \
    RUNNING(cannon.timers.left_ms[TIMER_WORK], RUNNING_MS, world->cannon.working)                                      \
    RUNNING(cannon.timers.left_ms[TIMER_AIM_SETTLED], RUNNING_MS, world->cannon.axes.axis[0].powered)                  \
    RUNNING(cannon.timers.left_ms[TIMER_ARMED], RUNNING_MS, world->cannon.state == WIRE_STATE_ARMED)                   \
    RUNNING(cannon.timers.left_ms[TIMER_TRIGGER], RUNNING_MS, world->cannon.state == WIRE_STATE_FIRING)                \
    RUNNING(cannon.timers.left_ms[TIMER_SHOT], RUNNING_MS, world->cannon.state == WIRE_STATE_FIRING)                   \
    RUNNING(cannon.timers.left_ms[TIMER_LOADER], RUNNING_MS, world->cannon.loading)                                    \
    RUNNING(cannon.timers.left_ms[TIMER_KEY_OFF], RUNNING_MS, true)                                                    \
    EXACT(1, trigger)                                                                                                  \
    EXACT(1, loader)                                                                                                   \
    EXACT(2, begun)                                                                                                    \
    EXACT(2, shots)                                                                                                    \
    EXACT(1, turn_needed)                                                                                              \
    EXACT(1, key_was_off)                                                                                              \
    EXACT(2, chosen)                                                                                                   \
    EXACT(2, stored)                                                                                                   \
    EXACT(1, cannon.store.writing)                                                                                     \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_TRAVERSE].position_ticks, HOME_TICKS, 100u)                                    \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_TRAVERSE].target_ticks, HOME_TICKS, 100u)                                      \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_ELEVATION].position_ticks, HOME_TICKS, 100u)                                   \
    STEPS(2, cannon.axes.axis[WIRE_AXIS_ELEVATION].target_ticks, HOME_TICKS, 100u)

/* In safe and in letting down nobody asks when the controller was last heard, and leaving safe is a command. */
static bool at_work(const struct world *world)
{
    return world->cannon.state != WIRE_STATE_SAFE && world->cannon.state != WIRE_STATE_LETTING_DOWN;
}

#define PACK_EXACT(bits, what) pack_bits(&packer, bits, world->what);
#define PACK_STEPS(bits, what, zero, step)                                                                             \
    pack_bits(&packer, bits, world->what == 0 ? 0 : (uint32_t)(world->what - (zero)) / (step));                        \
    packer.misfit = packer.misfit || (world->what != 0 && (world->what - (zero)) % (step) != 0);
#define PACK_RUNNING(what, value, live) pack_bits(&packer, 1, (live) && world->what != 0);
#define UNPACK_EXACT(bits, what) world->what = (uint8_t)unpack_bits(&packer, bits);
#define UNPACK_STEPS(bits, what, zero, step) world->what = (uint16_t)((zero) + unpack_bits(&packer, bits) * (step));
#define UNPACK_RUNNING(what, value, live) world->what = unpack_bits(&packer, 1) ? (value) : 0;

static uint32_t fuse_token(const struct receiver *receiver)
{
    uint32_t token = 0;
    for (uint8_t i = WIRE_COMMAND_FIRE_LENGTH; i-- > 0;) {
        token = token << 8 | receiver->fuse_token[i];
    }
    return token;
}

static bool keep(const struct world *world, struct key *key)
{
    const struct cannon *cannon = &world->cannon;
    const struct receiver *receiver = &cannon->receiver;
    struct packer packer = {.misfit = receiver->head != receiver->tail};
    KEPT(PACK_EXACT, PACK_STEPS, PACK_RUNNING)
    bool firing = cannon->state == WIRE_STATE_FIRING;
    pack_bits(&packer, 1, firing && cannon->left_first_seen);
    pack_bits(&packer, 1, firing && cannon->shot_seen);
    pack_bits(&packer, 1, cannon->token != 0);
    pack_bits(&packer, 1, fuse_token(receiver) == cannon->token);
    pack_bits(&packer, 1, cannon->last_crc == crc_of_fire(receiver, cannon->last_id, cannon->token));
    pack_bits(&packer, 1, world->begun != BEGUN_NOTHING && receiver->overtaken[receiver->head]);
    pack_bits(&packer, 8, receiver->fuse_live ? (uint8_t)(receiver->fuse_sequence - cannon->last_id) : 0);
    *key = packer.key;
    return !packer.misfit && packer.at <= 64u * KEY_WORDS;
}

/* The one state that stands for its class. */
static void make(const struct key *key, struct world *to)
{
    static struct world blank;
    static bool blank_made;
    struct world *world = to;
    struct cannon *cannon = &world->cannon;
    struct receiver *receiver = &cannon->receiver;
    struct packer packer = {.key = *key};
    if (!blank_made) {
        blank_made = true;
        now = (struct world){0};
        reset(WIRE_RESET_CAUSE_POWER_ON);
        blank = now;
        outbox_start(&blank.cannon.outbox);
        blank.cannon.timers = (struct timers){.left_ms = {[TIMER_RESEND] = RUNNING_MS, [TIMER_PERIOD] = RUNNING_MS}};
        blank.cannon.session = SESSION;
        blank.cannon.token_seed = SEED;
        blank.cannon.released_us = START_US;
        blank.cannon.left_first.time_us = START_US;
        for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
            blank.cannon.axes.axis[i] = (struct axis){HOME_TICKS, HOME_TICKS, false};
        }
    }
    *world = blank;
    KEPT(UNPACK_EXACT, UNPACK_STEPS, UNPACK_RUNNING)
    choose(&cannon->settings, world->chosen);
    cannon->left_first_seen = unpack_bits(&packer, 1);
    cannon->shot_seen = unpack_bits(&packer, 1);
    cannon->token = unpack_bits(&packer, 1) ? TOKEN : 0;
    uint32_t fuse = unpack_bits(&packer, 1) ? cannon->token : ~cannon->token;
    for (uint8_t i = 0; i < WIRE_COMMAND_FIRE_LENGTH; i++) {
        receiver->fuse_token[i] = (uint8_t)(fuse >> 8u * i);
    }
    uint16_t crc = crc_of_fire(receiver, cannon->last_id, cannon->token);
    cannon->last_crc = unpack_bits(&packer, 1) ? crc : (uint16_t)~crc;
    bool overtaken = unpack_bits(&packer, 1);
    receiver->fuse_sequence = (uint8_t)(cannon->last_id + unpack_bits(&packer, 8));
    if (world->begun != BEGUN_NOTHING) {
        bool matches = receiver->matches, primed = receiver->primed, live = receiver->fuse_live;
        bool stopped = receiver->stopped;
        struct bytes bytes =
            fire_of(receiver, (uint8_t)(cannon->last_id + 1u),
                    world->begun == BEGUN_FIRE ? cannon->token : STALE_TOKEN);
        for (uint8_t i = 0; i < bytes.count; i++) {
            receiver_take(receiver, bytes.byte[i]);
        }
        receiver->matches = matches;
        receiver->primed = primed;
        receiver->fuse_live = live;
        receiver->stopped = stopped;
        receiver->overtaken[receiver->head] = overtaken;
    }
}

/* -- the promises of SAFETY.md -------------------------------------------------------------------------------------- */

/* Each says what is wrong with a millisecond, or NULL. `before` and `now` are the worlds around it. */
typedef const char *promise(const struct world *before);

static bool due(enum timer timer) { return moment.due >> timer & 1u; }

static bool is(const struct world *world, uint8_t state) { return world->cannon.state == state; }

static bool can_shoot(const struct world *world) { return is(world, WIRE_STATE_ARMED) || is(world, WIRE_STATE_FIRING); }

/* Safe, or letting down: the one movement that a dwell begins even in safe. */
static bool made_safe(void)
{
    return is(&now, WIRE_STATE_SAFE) ||
           (is(&now, WIRE_STATE_LETTING_DOWN) && (due(TIMER_DWELL) || moment.frame_after_stop));
}

static const char *S_1(const struct world *before)
{
    if (moment.pulled && !is(before, WIRE_STATE_ARMED)) {
        return "a shot from a state that is not armed";
    }
    if (moment.pulled && !moment.fire_right) {
        return "a shot without the token of this arming and the next id";
    }
    if (now.shots > 1u) {
        return "a second shot by one arming";
    }
    if (kind_of_world->trigger_kind == 1 && now.trigger) {
        return "the solenoid is pulled though the latch servo is the trigger";
    }
    if (is(&now, WIRE_STATE_FIRING) && !is(before, WIRE_STATE_FIRING) && !moment.pulled) {
        return "firing without a shot";
    }
    return moment.pulled && !moment.reset && !can_shoot(&now) && now.trigger ? "a pull that the core forgot" : NULL;
}

static const char *S_2(const struct world *before)
{
    if (moment.pulled && moment.denied_at_pull) {
        return "a shot with an interlock missing or after a stop";
    }
    if (is(&now, WIRE_STATE_ARMED) && !is(before, WIRE_STATE_ARMED)) {
        if (!pins_right(now.cannon.inputs.levels)) {
            return "armed with an interlock missing";
        }
        if (axes_moving(&now.cannon.axes) || now.cannon.loading) {
            return "armed while something moves";
        }
    }
    return NULL;
}

static const char *S_3(const struct world *before)
{
    uint8_t gone = moment.lost & before->cannon.inputs.levels;
    if (moment.late) {
        return "an interrupt left an output on";
    }
    if (now.trigger && (moment.between || moment.stopped || moment.lost)) {
        return "the trigger is on after a stop";
    }
    if (moment.reset) {
        return NULL;
    }
    if (gone & WIRE_INPUT_ESTOP_OK_MASK && !made_safe()) {
        return "not safe after an emergency stop";
    }
    if (gone & WIRE_INPUT_KEY_ON_MASK && !is(&now, WIRE_STATE_SAFE) && !is(&now, WIRE_STATE_LETTING_DOWN)) {
        return "not safe after the key was turned off";
    }
    return gone & WIRE_INPUT_LANE_CLEAR_MASK && can_shoot(&now) ? "armed with the lane not clear" : NULL;
}

static const char *S_4(const struct world *before)
{
    bool agreed = before->cannon.identified && before->cannon.wire_agreed && now.cannon.wire_agreed &&
                  !moment.reset;
    if (due(TIMER_HEARD) && at_work(&now) && !moment.frame && !moment.reset) {
        return "at work though the controller is silent";
    }
    if (moment.safe_last && agreed && !is(&now, WIRE_STATE_SAFE) &&
        !(is(&now, WIRE_STATE_LETTING_DOWN) && due(TIMER_DWELL))) {
        return "not safe though asked for";
    }
    if (moment.new_session && at_work(&now)) {
        return "a new controller finds it at work";
    }
    if (is(&now, WIRE_STATE_SAFE)) {
        const struct cannon_outputs *outputs = &now.cannon.outputs;
        if (outputs->trigger || outputs->loader || outputs->armed_lamp || now.loader ||
            (now.trigger && !now.cannon.receiver.fuse_fired)) {
            return "an output on in safe";
        }
        for (uint8_t i = 0; i < AXES_AIMING; i++) {
            if (now.cannon.axes.axis[i].position_ticks != now.cannon.axes.axis[i].target_ticks) {
                return "an aiming axis moves in safe";
            }
        }
    }
    return NULL;
}

static const char *S_5(const struct world *before)
{
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        bool began = now.cannon.axes.axis[i].powered && (moment.reset || !before->cannon.axes.axis[i].powered);
        if (began && i != WIRE_AXIS_DRAW && !moment.frame && (moment.reset || is(&now, WIRE_STATE_SAFE))) {
            return "pulses begin by a reset or in safe";
        }
    }
    if (moment.reset && (!is(&now, WIRE_STATE_SAFE) || now.trigger || now.loader)) {
        return "not safe after a reset";
    }
    return NULL;
}

static const char *S_6(const struct world *before)
{
    const struct cannon *cannon = &now.cannon;
    (void)before;
    if (now.trigger && (cannon->guard.trigger_periods_left == 0 || !is(&now, WIRE_STATE_FIRING) ||
                        timers_due(&cannon->timers, TIMER_TRIGGER))) {
        return "the trigger is on and nothing ends it";
    }
    if (now.loader && (cannon->guard.loader_periods_left == 0 || !is(&now, WIRE_STATE_COCKED) ||
                       timers_due(&cannon->timers, TIMER_LOADER))) {
        return "the loader is on and nothing ends it";
    }
    return NULL;
}

static uint16_t rest_ticks(void) { return choices[1].ticks[now.chosen >> 1 & 1u]; }

static const char *S_7(const struct world *before)
{
    (void)before;
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        const struct axis *axis = &now.cannon.axes.axis[i];
        uint16_t low_ticks = i == WIRE_AXIS_DRAW ? rest_ticks() : HOME_TICKS;
        uint16_t high_ticks = i == WIRE_AXIS_AZIMUTH ? choices[0].ticks[now.chosen & 1u]
                              : i == WIRE_AXIS_DRAW  ? kind_of_world->breech_ticks
                              : i == WIRE_AXIS_LATCH ? LUBRICATE_TICKS
                                                     : far_ticks(i);
        uint16_t pulse_ticks = now.cannon.outputs.pulse_ticks[i];
        if ((pulse_ticks != 0 && (pulse_ticks < low_ticks || pulse_ticks > high_ticks)) ||
            (axis->powered && (axis->target_ticks < low_ticks || axis->target_ticks > high_ticks))) {
            return "an axis leaves its limits";
        }
    }
    return NULL;
}

/* Nothing is under way that ends by itself. */
static bool idle(const struct world *world)
{
    return !is(world, WIRE_STATE_LETTING_DOWN) && !is(world, WIRE_STATE_FIRING) && !world->cannon.working;
}

/* A let-down whose dwell is over was broken off by a controller, or begun anew with nothing but a controller's word for
 * it: often enough, and it would not come to its end. */
static bool put_off(const struct world *before)
{
    if (!is(before, WIRE_STATE_LETTING_DOWN) || !now.cannon.held) {
        return false;
    }
    if (is(&now, WIRE_STATE_SAFE)) {
        return now.cannon.cause == WIRE_CAUSE_COMMAND || now.cannon.cause == WIRE_CAUSE_STOP_BYTE;
    }
    return now.cannon.lever.step < before->cannon.lever.step && !due(TIMER_WORK);
}

static const char *S_8(const struct world *before)
{
    if (!before->cannon.held || !due(TIMER_DWELL) || moment.reset) {
        return NULL;
    }
    if (put_off(before)) {
        return "a controller put off the let-down";
    }
    if (moment.pulled && !moment.pulled_in_interrupt) {
        return "a shot after the dwell";
    }
    /* What was under way has an end of its own, and a command is done after the clock was looked at: then the next
     * millisecond is the one. */
    return idle(before) && idle(&now) && now.cannon.held && !moment.frame ? "cocked for longer than the dwell" : NULL;
}

static const char *S_9(const struct world *before)
{
    const struct axis *draw = &now.cannon.axes.axis[WIRE_AXIS_DRAW];
    const struct axis *latch = &now.cannon.axes.axis[WIRE_AXIS_LATCH];
    const struct axis *draw_was = &before->cannon.axes.axis[WIRE_AXIS_DRAW];
    const struct axis *latch_was = &before->cannon.axes.axis[WIRE_AXIS_LATCH];
    bool latched = now.cannon.inputs.levels & WIRE_INPUT_LEVER_LATCHED_MASK;
    if (moment.reset) {
        return NULL;
    }
    if (draw->powered && draw_was->powered && draw_was->position_ticks > draw->position_ticks + kind_of_world->ease_ticks &&
        !latched) {
        return "the draw goes forward faster than eased, and the latch does not have the lever";
    }
    bool away = latch->position_ticks != latch_was->position_ticks && latch_was->position_ticks != HELD_TICKS
                    ? abs(latch->position_ticks - (int)HELD_TICKS) > abs(latch_was->position_ticks - (int)HELD_TICKS)
                    : latch->position_ticks != latch_was->position_ticks;
    bool drawn = draw->powered && draw->position_ticks == kind_of_world->breech_ticks;
    if (latch->powered && latch_was->powered && away && latched && !drawn && now.cannon.lever.task != LEVER_RELEASE) {
        return "the latch lets go of a lever that the draw does not have";
    }
    return NULL;
}

static const char *S_10(const struct world *before)
{
    if (is(&now, WIRE_STATE_ARMED) && timers_due(&now.cannon.timers, TIMER_ARMED)) {
        return "armed without an end";
    }
    return is(before, WIRE_STATE_ARMED) && due(TIMER_ARMED) && is(&now, WIRE_STATE_ARMED) && !moment.armed
               ? "armed for longer than allowed"
               : NULL;
}

static const char *S_11(const struct world *before)
{
    bool left = at_work(&now) && !at_work(before);
    if (left && now.turn_needed) {
        return "left safe after an emergency stop without the key being turned";
    }
    uint8_t needed = WIRE_INPUT_ESTOP_OK_MASK | WIRE_INPUT_KEY_ON_MASK;
    return left && (now.cannon.inputs.levels & needed) != needed ? "left safe without key or with the stop pressed" : NULL;
}

static const char *S_13(const struct world *before)
{
    (void)before;
    return moment.stopped && !moment.reset && !moment.frame_after_stop && !made_safe() ? "not safe after a stop byte" : NULL;
}

static const struct {
    const char *name;
    promise *holds;
} promises[] = {
    {"S-1", S_1}, {"S-2", S_2}, {"S-3", S_3}, {"S-4", S_4},   {"S-5", S_5},   {"S-6", S_6},
    {"S-7", S_7}, {"S-8", S_8}, {"S-9", S_9}, {"S-10", S_10}, {"S-11", S_11}, {"S-13", S_13},
};
#define PROMISE_COUNT (sizeof promises / sizeof promises[0])

/* -- the search ----------------------------------------------------------------------------------------------------- */

struct found {
    struct key key;
    uint32_t from;
    uint8_t by[MOST_THINGS];
};

static struct found *found;
static uint32_t found_count, found_room;
static uint32_t *slots; /* of a hash table: index of found plus one */
static uint32_t slot_count;

static void *room_for(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);
    if (memory == NULL) {
        fputs("explore: no memory is left\n", stderr);
        exit(2);
    }
    return memory;
}

static uint32_t slot_of(const struct key *key)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < KEY_WORDS; i++) {
        hash = (hash ^ key->word[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    uint32_t slot = (uint32_t)hash & (slot_count - 1u);
    while (slots[slot] != 0 && memcmp(&found[slots[slot] - 1u].key, key, sizeof *key) != 0) {
        slot = (slot + 1u) & (slot_count - 1u);
    }
    return slot;
}

/* True when the state is new. */
static bool note(const struct key *key, uint32_t from, const uint8_t *by)
{
    if (found_count * 2u >= slot_count) {
        slot_count = slot_count == 0 ? 1u << 16 : slot_count * 2u;
        slots = room_for(slots, slot_count * sizeof *slots);
        memset(slots, 0, slot_count * sizeof *slots);
        for (uint32_t i = 0; i < found_count; i++) {
            slots[slot_of(&found[i].key)] = i + 1u;
        }
    }
    uint32_t slot = slot_of(key);
    if (slots[slot] != 0) {
        return false;
    }
    if (found_count == found_room) {
        found_room = found_room == 0 ? 1u << 16 : found_room * 2u;
        found = room_for(found, found_room * sizeof *found);
    }
    found[found_count] = (struct found){.key = *key, .from = from};
    memcpy(found[found_count].by, by, MOST_THINGS);
    slots[slot] = ++found_count;
    return true;
}

static void print_things(const uint8_t *chosen)
{
    printf("  %s", chosen[0] == NO_THING ? "nothing" : things[chosen[0]].name);
    for (uint8_t i = 1; i < MOST_THINGS && chosen[i] != NO_THING; i++) {
        printf(", %s", things[chosen[i]].name);
    }
}

static const char *state_name(const struct key *key)
{
    static const char *const names[WIRE_STATE_COUNT] = {"safe",  "homing", "ready",        "cocking", "cocked",
                                                        "armed", "firing", "letting down", "service"};
    static struct world world;
    make(key, &world);
    return names[world.cannon.state];
}

/* The way from power-on to a state, a line for each millisecond. */
static void print_way(uint32_t to)
{
    if (to != 0) {
        print_way(found[to].from);
        print_things(found[to].by);
        printf(" -> %s\n", state_name(&found[to].key));
    }
}

static void fail(const char *name, const char *what, uint32_t from, const uint8_t *chosen)
{
    printf("%s broken: %s\n", name, what);
    print_way(from);
    print_things(chosen);
    printf("\n");
    exit(strcmp(name, "keep") == 0 ? 3 : 1);
}

/* The order of two things matters only if both touch pins or line. */
static unsigned rank(uint8_t index)
{
    uint8_t kind = things[index].kind;
    return kind == DUE || kind == ARRIVES ? 0 : kind == STOP_BETWEEN || kind == LOST_BETWEEN ? 2u : 1u;
}

static bool may_follow(uint8_t last, uint8_t next)
{
    if (last == NO_THING) {
        return true;
    }
    return rank(last) == 1u && rank(next) == 1u ? last != next : rank(last) == rank(next) ? last < next
                                                                                          : rank(last) < rank(next);
}

/* A state that came about and the one that stands for it must go on alike. */
static void check_class(const struct world *raw, const struct key *key, uint32_t from, const uint8_t *chosen)
{
    static struct world copy, stands;
    copy = *raw;
    make(key, &stands);
    for (uint8_t i = 0; i <= THING_COUNT; i++) {
        uint8_t next[MOST_THINGS];
        struct key after[2];
        for (unsigned which = 0; which < 2u; which++) {
            memset(next, NO_THING, sizeof next);
            next[0] = i == THING_COUNT ? NO_THING : i;
            now = which == 0 ? copy : stands;
            if (!pass_millisecond(next)) { /* a timer that nobody reads may still run in one of them */
                next[0] = NO_THING;
                now = which == 0 ? copy : stands;
                pass_millisecond(next);
            }
            keep(&now, &after[which]);
        }
        if (memcmp(&after[0], &after[1], sizeof after[0]) != 0) {
            next[0] = i == THING_COUNT ? NO_THING : i;
            printf("after one more: ");
            print_things(next);
            printf("\n");
            fail("keep", "a state and the one that stands for it go on differently", from, chosen);
        }
    }
}

static uint64_t transitions;
static unsigned reached; /* states, bits by enum wire_state */
static uint32_t check_each; /* 0: never */
static unsigned longest_rest_ms;

static void hold_promises(const struct world *before, uint32_t from, const uint8_t *chosen)
{
    for (unsigned i = 0; i < PROMISE_COUNT; i++) {
        const char *what = promises[i].holds(before);
        if (what != NULL) {
            fail(promises[i].name, what, from, chosen);
        }
    }
}

/* Where the lever is when no hand is on it: held by the latch until that turns free, otherwise with the draw. */
static uint8_t lever_switches(void)
{
    const struct axis *draw = &now.cannon.axes.axis[WIRE_AXIS_DRAW];
    const struct axis *latch = &now.cannon.axes.axis[WIRE_AXIS_LATCH];
    bool latched = now.cannon.inputs.levels & WIRE_INPUT_LEVER_LATCHED_MASK &&
                   !(latch->powered && latch->position_ticks < HELD_TICKS);
    bool drawn = latched || (draw->powered && draw->position_ticks == kind_of_world->breech_ticks);
    return (uint8_t)((drawn ? WIRE_INPUT_LEVER_DRAWN_MASK : 0u) | (latched ? WIRE_INPUT_LEVER_LATCHED_MASK : 0u));
}

/* A millisecond in which nobody touches anything, and nobody speaks but perhaps to say stop: every timer runs out, but
 * `patient` is the one that ends work which takes too long. */
static void pass_quiet_millisecond(bool patient, bool stopping)
{
    const uint8_t lever = WIRE_INPUT_LEVER_DRAWN_MASK | WIRE_INPUT_LEVER_LATCHED_MASK;
    struct cannon *cannon = &now.cannon;
    uint8_t differs = (uint8_t)((cannon->inputs.levels ^ lever_switches()) & lever);
    moment = (struct moment){.stopped = cannon->receiver.stopped, .lost = cannon->guard.lost};
    now.levels = cannon->inputs.levels ^ differs;
    if (stopping) {
        stop_byte();
    }
    cannon->inputs.count_low |= differs;
    cannon->inputs.count_high |= differs;
    cannon->lever.settle_periods = 0;
    for (uint8_t i = 0; i < TIMER_COUNT; i++) {
        if (cannon->timers.left_ms[i] != 0 && (i != TIMER_WORK || !patient)) {
            cannon->timers.left_ms[i] = 1;
        }
    }
    step_core();
    watch_turn();
    guard_apply(&cannon->guard, &cannon->receiver, cannon->outputs.trigger, cannon->outputs.loader);
}

#define QUIET_MS 64u /* more than any way to rest takes */

/* Time alone lets the lever down, whatever state it begins in; and in spite of somebody who never stops saying stop. */
static void come_to_rest(uint32_t from, const struct world *before, bool stopping)
{
    static uint8_t nothing[MOST_THINGS];
    static struct world last;
    struct key was, is_now;
    memset(nothing, NO_THING, sizeof nothing);
    now = *before;
    keep(&now, &was);
    for (unsigned ms = 0; ms < QUIET_MS; ms++) {
        const struct axis *draw = &now.cannon.axes.axis[WIRE_AXIS_DRAW];
        if (is(&now, WIRE_STATE_SAFE) && !lever_held(now.cannon.inputs.levels) &&
            (!draw->powered || draw->position_ticks == rest_ticks())) {
            longest_rest_ms = ms > longest_rest_ms ? ms : longest_rest_ms;
            return;
        }
        last = now;
        pass_quiet_millisecond(true, stopping);
        keep(&now, &is_now);
        if (memcmp(&was, &is_now, sizeof was) == 0) {
            now = last;
            pass_quiet_millisecond(false, stopping);
            keep(&now, &is_now);
        }
        hold_promises(&last, from, nothing);
        was = is_now;
    }
    fail("S-8", stopping ? "by stops alone, the lever is never let down" : "with nobody there, the lever is never let down",
         from, nothing);
}

static void try_things(uint32_t from, const struct world *before, const uint8_t *chosen)
{
    static struct world after;
    struct key key;
    now = *before;
    if (!pass_millisecond(chosen)) {
        return;
    }
    transitions++;
    hold_promises(before, from, chosen);
    reached |= 1u << now.cannon.state;
    if (!keep(&now, &key)) {
        fail("keep", "a state does not fit what is kept of it", from, chosen);
    }
    after = now;
    if (note(&key, from, chosen) && check_each != 0 && found_count % check_each == 0) {
        check_class(&after, &key, from, chosen);
    }
}

static void try_all(uint32_t from, const struct world *before, uint8_t *chosen, unsigned count, unsigned most)
{
    try_things(from, before, chosen);
    for (uint8_t i = 0; count < most && count < MOST_THINGS && i < THING_COUNT; i++) {
        if (may_follow(count == 0 ? NO_THING : chosen[count - 1u], i)) {
            chosen[count] = i;
            try_all(from, before, chosen, count + 1u, most);
            chosen[count] = NO_THING;
        }
    }
}

/* From states that are known already, two things of one millisecond, drawn at random. */
static void try_pairs(uint32_t pairs)
{
    static struct world before;
    uint64_t draw = SEED;
    for (uint32_t i = 0; i < pairs;) {
        uint8_t chosen[MOST_THINGS];
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        uint32_t from = (uint32_t)((draw >> 32) % found_count);
        memset(chosen, NO_THING, sizeof chosen);
        chosen[0] = (uint8_t)((draw & 0xFFFFu) % THING_COUNT);
        chosen[1] = (uint8_t)((draw >> 16 & 0xFFFFu) % THING_COUNT);
        if (may_follow(chosen[0], chosen[1])) {
            uint64_t done = transitions;
            make(&found[from].key, &before);
            try_things(from, &before, chosen);
            i += transitions != done;
        }
    }
}

/* Go on from every state that is new until there is none. */
static void follow(uint32_t from, unsigned most)
{
    static struct world before;
    uint8_t chosen[MOST_THINGS];
    memset(chosen, NO_THING, sizeof chosen);
    for (uint32_t i = from; i < found_count; i++) {
        make(&found[i].key, &before);
        try_all(i, &before, chosen, 0, most);
        come_to_rest(i, &before, false);
        come_to_rest(i, &before, true);
    }
}

struct use {
    int most;
    uint32_t pairs;
};

static bool understood(int count, char **arguments, struct use *use)
{
    for (unsigned i = 0; count > 1 && i < WORLD_COUNT; i++) {
        if (strcmp(arguments[1], worlds[i].name) == 0) {
            kind_of_world = &worlds[i];
        }
    }
    use->most = count > 2 ? atoi(arguments[2]) : 0;
    for (int i = 3; i < count; i += 2) {
        int number = i + 1 < count ? atoi(arguments[i + 1]) : 0;
        bool check = strcmp(arguments[i], "check") == 0;
        if (number < 1 || !(check || strcmp(arguments[i], "pairs") == 0)) {
            return false;
        }
        *(check ? &check_each : &use->pairs) = (uint32_t)number;
    }
    return kind_of_world != NULL && use->most >= 1 && use->most <= (int)MOST_THINGS;
}

int main(int count, char **arguments)
{
    static struct world before;
    struct use use = {0, 0};
    uint8_t chosen[MOST_THINGS];
    struct key key;
    if (!understood(count, arguments, &use)) {
        fprintf(stderr, "use: explore WORLD THINGS [check EACH] [pairs COUNT]; THINGS 1 to %u, WORLD one of:", MOST_THINGS);
        for (unsigned i = 0; i < WORLD_COUNT; i++) {
            fprintf(stderr, " %s", worlds[i].name);
        }
        fputs("\n", stderr);
        return 2;
    }
    store_settings(0);
    memset(chosen, NO_THING, sizeof chosen);
    make(&(struct key){{0}}, &before);
    now = before;
    reset(WIRE_RESET_CAUSE_POWER_ON);
    for (uint8_t i = 0; i < WIRE_AXIS_COUNT; i++) {
        now.cannon.axes.axis[i] = before.cannon.axes.axis[i];
    }
    if (!keep(&now, &key)) {
        fail("keep", "power-on does not fit what is kept of a state", 0, chosen);
    }
    note(&key, 0, chosen);
    follow(0, (unsigned)use.most);
    if (reached != kind_of_world->reaches) {
        printf("reach broken: states %03X came about, not %03X\n", reached, (unsigned)kind_of_world->reaches);
        return 1;
    }
    printf("%lu states, %llu transitions, %u promises kept; at rest after %u quiet milliseconds at most\n",
           (unsigned long)found_count, (unsigned long long)transitions, (unsigned)PROMISE_COUNT, longest_rest_ms);
    if (use.pairs != 0) {
        uint32_t known = found_count;
        transitions = 0;
        try_pairs(use.pairs);
        uint32_t by_pairs = found_count - known;
        follow(known, (unsigned)use.most);
        printf("%lu pairs at random: %lu more states, %lu with what follows from them\n", (unsigned long)use.pairs,
               (unsigned long)by_pairs, (unsigned long)(found_count - known));
    }
    return 0;
}
