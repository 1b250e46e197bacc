/* The cannon's core as a library for the PC: what the ATmega328P's interrupts and main loop do, done by calls.
 *
 * Nothing happens between two calls. Time stands still but in host_run. No function may be called from two threads.
 * Python reads this file too (cffi, ABI mode), so below the guard it holds declarations and nothing else. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- declarations -- */

struct host;

struct host_view {
    uint8_t state;  /* enum wire_state */
    uint8_t cause;  /* enum wire_cause */
    uint8_t inputs; /* debounced */
    bool powered;
    bool trigger;   /* the pin */
    bool loader;    /* the pin */
    bool armed_lamp;
    bool key_cycle_needed;
    uint16_t pulse_ticks[5]; /* by enum wire_axis; 0: no pulses */
    uint16_t faults;
    uint16_t shots;
    uint32_t now_us;
    uint32_t pulls; /* how often the trigger pin has gone high since the host was made */
    uint32_t token; /* of the last arming */
    bool identified;
    uint16_t session;
    uint8_t last_id; /* of the command taken last */
};

/* A chip without power, its EEPROM blank. NULL when there is no memory. */
struct host *host_new(void);
void host_free(struct host *host);

/* A copy of everything: an exploration goes on from the same point twice. Copies must be of hosts from host_new. */
void host_copy(struct host *to, const struct host *from);

/* Start after a reset (enum wire_reset_cause). Outputs are off first. What the core retains is kept but at power-on. */
void host_reset(struct host *host, uint8_t reset_cause);

/* The inputs are now these bits of WIRE_INPUT_.._MASK. Interrupts see the change now, the main loop when it runs. */
void host_set_inputs(struct host *host, uint8_t levels);

/* Bytes come in, each through the receive interrupt; the main loop does not run. */
void host_receive(struct host *host, const uint8_t *bytes, size_t count);

/* The main loop runs once, without time passing. */
void host_step(struct host *host);

/* The two halves of host_step, between which interrupts may come: what is to be done, and making it true at the pins. */
void host_think(struct host *host);
void host_act(struct host *host);

/* Just before the core holds interrupts off, or asks for its history, for the `locks`-th time from now, the inputs change to
 * `levels`, for good or for a moment, after `byte` has come unless that is 0. 0 locks: no longer. Returns whether the one
 * before has not come yet. */
bool host_interrupt(struct host *host, uint8_t locks, uint8_t levels, bool for_good, uint8_t byte);

/* Time passes, in steps of at most a millisecond with the main loop running after each. What it sends has left at
 * once: the line's speed is not part of this. */
void host_run(struct host *host, uint32_t duration_us);

/* Only time and the interrupts of the servo periods pass: the main loop hangs. */
void host_hang(struct host *host, uint32_t duration_us);

/* The line takes so many more bytes and then no more, as when nobody reads at its other end. UINT32_MAX: it takes all
 * there will ever be, as it does in the beginning. */
void host_line_takes(struct host *host, uint32_t bytes);

/* Bytes sent since the last call; at most `room` of them, the others stay. Returns how many. */
size_t host_sent(struct host *host, uint8_t *bytes, size_t room);

void host_view(const struct host *host, struct host_view *view);

/* The value in use of a setting, enum wire_setting. */
uint16_t host_setting(const struct host *host, uint8_t setting);

/* The 1024 bytes of EEPROM, to read and to damage. */
uint8_t *host_eeprom(struct host *host);

/* The bytes of the history's ring as they lie in RAM, to read and to damage: HISTORY_ENTRY_BYTES an entry, then the
 * number of the newest. `count` is how many. */
uint8_t *host_history(struct host *host, size_t *count);

/* Bytes from the line were lost before they came to the core (WIRE_LOSS_.._MASK), as the hardware says. */
void host_lose(struct host *host, uint8_t losses);

/* After so many more bytes written to EEPROM the supply fails: the next one is left half written, and nothing runs
 * until a reset. Negative: never. */
void host_fail_after_writes(struct host *host, int32_t writes);

/* The core's own tables and arithmetic, as they are compiled. */
uint8_t state_next(uint8_t state, uint8_t event);
uint8_t state_cause(uint8_t event);
uint16_t ramp_next(uint16_t position_ticks, uint16_t target_ticks, uint16_t speed_ticks);
uint16_t ramp_clamp(uint16_t ticks, uint16_t low_ticks, uint16_t high_ticks);
uint16_t ramp_time_ms(uint16_t from_ticks, uint16_t to_ticks, uint16_t speed_ticks);
bool settings_allows(uint8_t setting, uint16_t value);
uint16_t host_crc(const uint8_t *bytes, size_t count);
uint8_t host_state_count(void);
uint8_t host_event_count(void);
const char *host_event_name(uint8_t event);

/* -- end -- */

#endif
