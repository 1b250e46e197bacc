/* Version of the firmware. The wire has a version of its own, in wire.h. */
#ifndef VERSION_H
#define VERSION_H

#define VERSION_MAJOR 0u
#define VERSION_MINOR 1u
#define VERSION_PATCH 0u

#endif
