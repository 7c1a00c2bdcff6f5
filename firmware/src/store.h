/* What survives a power cut: the accept windows, with a checksum of their own, and how often the board has started. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Accept windows in the order of the letters "!SDPUsdpu.": a short, the eight pieces, the empty square. */
#define BANDS 10

typedef struct {
    uint16_t low;
    uint16_t high; /* both are accepted */
} band_t;

/* Count this start and give its number, from 1. Two slots are written in turn, so that a power cut while one is written
 * costs one count, not all. */
uint32_t store_count_boot(void);

/* Read the stored windows; false, leaving `bands` alone, if there are none or their checksum is wrong. */
bool store_load(band_t bands[BANDS]);

/* Whether windows were stored whose checksum is wrong; what another program has left there counts for nothing. */
bool store_is_damaged(void);

/* Begin to write `bands`, or to forget those that are stored if it is NULL; store_poll() does it, byte by byte. */
void store_save(const band_t *bands);

/* Write the next byte if the memory is ready; true once, when the last one is done. */
bool store_poll(void);

bool store_is_busy(void);

#endif
