/* Commands of the controller: in the right order, once each, answered or refused. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "cannon.h"

/* Take a frame off the line. An answer may be left in the outbox; the frame before must have been answered. */
void commands_take(struct cannon *cannon, const struct receiver_frame *frame);

#endif
