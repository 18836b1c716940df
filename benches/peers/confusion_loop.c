/* The plain loop of an evaluation written in C: one count a pixel, no checks. */

#include <stddef.h>
#include <stdint.h>

void count_pairs(const uint8_t *truth, const uint8_t *pred, size_t pixels, uint64_t *counts)
{
    for (size_t i = 0; i < pixels; i++)
        counts[((size_t)truth[i] << 8) | pred[i]]++;
}
