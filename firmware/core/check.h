/* A condition that the compiler checks; C99 has no word for it. */
#ifndef CHECK_H
#define CHECK_H

#define CHECK_COMPILE_TIME(name, condition) typedef char check_##name[(condition) ? 1 : -1]

#endif
