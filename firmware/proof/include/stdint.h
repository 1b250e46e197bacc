/* For weave.py's parser only, which cannot read a real one. */
#define __attribute__(what)

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef long int32_t;
typedef unsigned long uint32_t;

#define UINT8_MAX 0xFF
#define UINT16_MAX 0xFFFFu
