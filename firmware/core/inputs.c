#include "inputs.h"

void inputs_lose(struct inputs *inputs, uint8_t permissions)
{
    inputs->levels &= (uint8_t)~permissions;
    inputs->count_low &= (uint8_t)~permissions;
    inputs->count_high &= (uint8_t)~permissions;
}

void inputs_sample(struct inputs *inputs, uint8_t levels)
{
    uint8_t differs = (uint8_t)(levels ^ inputs->levels);
    uint8_t full = (uint8_t)(differs & inputs->count_low & inputs->count_high);
    inputs->count_high = (uint8_t)((inputs->count_high ^ inputs->count_low) & differs & ~full);
    inputs->count_low = (uint8_t)(~inputs->count_low & differs & ~full);
    inputs->levels ^= full;
    inputs_lose(inputs, (uint8_t)(INPUTS_PERMISSIONS & ~levels));
}
