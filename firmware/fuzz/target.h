/* What all fuzz targets have: an input is run, told in words, and found to break a promise. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each target's own. Runs an input from the beginning. */
void target_run(const uint8_t *bytes, size_t count);

/* A line of the story, when somebody listens. */
void target_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does somebody listen? For words that are costly to find. */
bool target_telling(void);

/* A promise is broken: tells the story of the input from its beginning, then ends the program for the fuzzer to keep
 * the input. */
void target_broken(const char *promise, const char *what) __attribute__((noreturn));

#endif
