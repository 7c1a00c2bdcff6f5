/* Milliseconds since the start, counted by asking: no interrupt, so nothing is lost while the LEDs are sent. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

void clock_start(void);

/* Take the time that has passed, and say whether that is a new millisecond. To be called at least every 200 ms. */
bool clock_poll(void);

uint32_t clock_ms(void);

/* The hardware's own count of TICKS_PER_MS a millisecond, which goes round in 262 ms. */
uint16_t clock_ticks(void);

#endif
