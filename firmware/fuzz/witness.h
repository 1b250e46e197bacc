/* The promises of SAFETY.md, asserted from outside: by pins, pulses, bytes and a clock, and by what host_view tells.
 * The explorer asserts them from inside, with timers that run out whenever they like; here time is real and nothing is
 * known of the core but its wire. What a promise must remember is kept here and nowhere else.
 *
 * Whoever drives a cannon tells the witness everything that happens to it, in order. */
#ifndef WITNESS_H
#define WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"
#include "line.h"
#include "wire.h"

#define WITNESS_FIRES 16u
#define WITNESS_TOKENS 64u
#define WITNESS_SESSIONS 512u
#define WITNESS_UNSURE UINT16_MAX /* two heartbeats with the same id */
#define WITNESS_EEPROM_BYTES 256u

struct witness_event {
    bool known;
    uint8_t type;
    uint8_t payload[WIRE_LONGEST_EVENT_PAYLOAD];
};

struct witness {
    uint64_t clock_us; /* goes on over resets */
    uint64_t counted_us; /* up to there the core has counted, at the least */
    struct host_view seen; /* after the last step of the main loop, or after the reset */
    uint8_t pins;
    uint16_t settings[WIRE_SETTING_COUNT]; /* in use */
    bool catching_up; /* the main loop has not yet counted all of the time that passed */

    /* What the controller's side of the line carried. */
    struct line_reader heard;
    unsigned stops, stops_begun; /* until now, and when the first byte since the last flag came */
    bool stop_reigns;            /* no whole frame has begun since the last stop byte */
    struct {
        uint32_t token;
        uint8_t sequence;
    } fires[WITNESS_FIRES]; /* the last good fire frames */
    unsigned fire_count;
    uint16_t acknowledged_by[256]; /* one more than the event that the heartbeat with this id acknowledges; 0: none */

    /* Since the main loop looked last, and what it found when it did. */
    bool stopped, found_stopped, found_reign;
    uint8_t lost, found_lost; /* permissions that were gone for an instant at least */

    /* Arming and shots. */
    uint32_t tokens[WITNESS_TOKENS]; /* of this session's armings */
    unsigned token_count;
    uint32_t shot_token;   /* of the last shot; 0: none */
    bool shot_by_interrupt; /* since the main loop looked last */
    bool found_shot;        /* ... and before that, so that it knows now */
    bool shot_by_loop;      /* by the main loop itself, as it looked last */
    uint32_t pulls_at_reset;

    /* Since when, by clock_us. */
    uint64_t heard_us;   /* the controller was last heard */
    uint64_t entered_us; /* the state is what it is */
    uint64_t pulled_us, loader_us;
    uint64_t held_us;    /* the lever is drawn or latched, or may be so anew */
    uint64_t key_on_us;  /* the key was last seen on, or the chip started */
    bool turn_needed;    /* an emergency stop came, and the key was not turned since */
    bool turn_noted;     /* ... and the main loop has run since, so a reset does not forget it */
    bool draw_may_begin; /* the draw was away from its rest at the reset */

    /* EEPROM. */
    uint8_t eeprom[WITNESS_EEPROM_BYTES];
    uint16_t stored[WIRE_SETTING_COUNT]; /* what a reset would find for certain ... */
    uint16_t saved[WIRE_SETTING_COUNT];  /* ... or this, if a save had come far enough */
    bool save_begun;
    uint8_t save_half;

    /* What the cannon sent. */
    struct line_reader sent;
    int32_t sessions[WITNESS_SESSIONS]; /* one after the other since the reset; what is sent may lag behind */
    unsigned session_count, sent_session;
    bool torn; /* a reset cut a frame short */
    struct witness_event events[256];
    bool event_seen, event_acknowledged;
    bool events_unsure; /* of which session they are: two identifies at the same instant have the same answer */
    unsigned sessions_answered; /* how many sessions had begun when identify was answered last */
    uint8_t newest_event, acknowledged_event;
    bool answer_seen;
    uint8_t answer[3u + WIRE_LONGEST_PAYLOAD]; /* id, type, length, payload of the last one */
    unsigned answers; /* and refusals, since the last step */
    bool answer_expected;
    uint8_t answer_expected_id;
};

/* Power comes on for the first time, with blank EEPROM. */
void witness_begin(struct witness *witness, struct host *host);

/* A byte of the controller's comes in. The witness hands it to the cannon. */
void witness_receive(struct witness *witness, struct host *host, uint8_t byte);

/* The session whose frames are good. */
int32_t witness_session(const struct witness *witness);

/* Pins change. */
void witness_set_pins(struct witness *witness, struct host *host, uint8_t levels);

/* Time passes without the main loop. */
void witness_pass(struct witness *witness, struct host *host, uint32_t duration_us);

/* The main loop runs: once through, and then its outputs are made true; interrupts may come between the two. */
void witness_think(struct witness *witness, struct host *host);
void witness_act(struct witness *witness, struct host *host);

/* The chip is reset. */
void witness_reset(struct witness *witness, struct host *host, uint8_t cause);

/* The words for a code of the wire. */
const char *witness_state_name(uint8_t state);
const char *witness_cause_name(uint8_t cause);

#endif
