#include "inputs.h"

void inputs_lose(struct inputs *inputs, uint8_t permissions)
{
    inputs->levels &= (uint8_t)~permissions;
    inputs->count_low &= (uint8_t)~permissions;
    inputs->count_high &= (uint8_t)~permissions;
}

uint8_t inputs_sample(struct inputs *inputs, uint8_t levels)
{
    uint8_t before = inputs->levels;
    uint8_t differs = (uint8_t)(levels ^ before);
    uint8_t full = (uint8_t)(differs & inputs->count_low & inputs->count_high);
    inputs->count_high = (uint8_t)((inputs->count_high ^ inputs->count_low) & differs & ~full);
    inputs->count_low = (uint8_t)(~inputs->count_low & differs & ~full);
    inputs->levels = (uint8_t)(before ^ full);
    inputs_lose(inputs, (uint8_t)(INPUTS_PERMISSIONS & ~levels));
    return (uint8_t)(inputs->levels ^ before);
}
