/* What the core asks of a C library, and start.c has. */
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memset(void *to, int value, size_t count);
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
int memcmp(const void *one, const void *other, size_t count);

#endif
