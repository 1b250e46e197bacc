/* Moments of a chip that it can go back to, so that one prepared state serves for thousands of futures.
 *
 * simavr allocates a chip with all its parts in one block and never moves it, so the block's contents are the state;
 * beside it there are data space, the levels that its signals had last, and the shim's own books. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct {
    uint32_t value;
    uint8_t flags;
} signal_state;

struct chip_moment {
    chip books;
    uint8_t *parts, *data;
    size_t parts_size, data_size;
    signal_state *signals;
    int signal_count;
    chip_event *events;
    pin_change *changes;
    uint8_t *queue;
};

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, from, size);
    return copy;
}

chip_moment *chip_keep(const chip *c)
{
    avr_t *avr = c->avr;
    chip_moment *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->books = *c;
    m->parts_size = malloc_usable_size(avr);
    m->parts = copy_of(avr, m->parts_size);
    m->data_size = avr->ramend + 1u;
    m->data = copy_of(avr->data, m->data_size);
    m->signal_count = avr->irq_pool.count;
    m->signals = calloc((size_t)m->signal_count, sizeof *m->signals);
    if (!m->signals)
        abort();
    for (int i = 0; i < m->signal_count; i++) {
        const avr_irq_t *signal = avr->irq_pool.irq[i];
        if (signal)
            m->signals[i] = (signal_state){ signal->value, signal->flags };
    }
    m->events = copy_of(c->events, c->event_count * sizeof *c->events);
    m->changes = copy_of(c->changes, c->change_count * sizeof *c->changes);
    m->queue = copy_of(c->uart.queue, c->uart.queue_tail);
    return m;
}

void chip_go_back(chip *c, const chip_moment *m)
{
    avr_t *avr = c->avr;
    chip present = *c;
    memcpy(avr, m->parts, m->parts_size);
    memcpy(avr->data, m->data, m->data_size);
    for (int i = 0; i < m->signal_count; i++)
        if (avr->irq_pool.irq[i]) {
            avr->irq_pool.irq[i]->value = m->signals[i].value;
            avr->irq_pool.irq[i]->flags = m->signals[i].flags;
        }
    /* The lists have grown meanwhile, or stayed: what was in them fits. */
    *c = m->books;
    c->events = present.events;
    c->event_room = present.event_room;
    c->changes = present.changes;
    c->change_room = present.change_room;
    c->uart.queue = present.uart.queue;
    c->uart.queue_room = present.uart.queue_room;
    if (c->event_count)
        memcpy(c->events, m->events, c->event_count * sizeof *c->events);
    if (c->change_count)
        memcpy(c->changes, m->changes, c->change_count * sizeof *c->changes);
    if (c->uart.queue_tail)
        memcpy(c->uart.queue, m->queue, c->uart.queue_tail);
}

void chip_moment_free(chip_moment *m)
{
    free(m->parts);
    free(m->data);
    free(m->signals);
    free(m->events);
    free(m->changes);
    free(m->queue);
    free(m);
}
