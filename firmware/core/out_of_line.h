/* A function that is small and called often stays one: the compiler's guess, that a copy costs no more than a call, is
 * wrong on a machine that needs four instructions to load sixteen bits. Room in flash, nothing else, so it is for
 * functions of the main loop only. */
#ifndef OUT_OF_LINE_H
#define OUT_OF_LINE_H

#define OUT_OF_LINE __attribute__((noinline))

#endif
