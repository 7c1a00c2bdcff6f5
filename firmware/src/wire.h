/* The lines on the cable: $BODY*CRC4, both ways. The host's side of the same table is companion/tiles/wire.py. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stdint.h>

/* Why the chip has started, as HELLO tells it. */
#define CAUSE_POWER 'P'
#define CAUSE_RESET 'E'
#define CAUSE_BROWN_OUT 'B'
#define CAUSE_WATCHDOG 'W'

void wire_start(char cause, uint32_t boots, bool calibrated);

/* Read what has come in and obey it. */
void wire_poll(void);

/* Tell that square `index` changed from `old` to its present letter. */
void wire_change(uint8_t index, char old);

/* Tell all squares. */
void wire_state(void);

/* Tell the last codes of all squares, if the host has asked for them. */
void wire_raw(void);

/* Once a second: the checksum of the state and the counters. */
void wire_heartbeat(void);

/* Say that something is wrong with the board; `code` is in program memory. Dropped if there is no room for it: it must
 * never hold up a scan. */
void wire_trouble(const char *code);

/* When the host last said something that could be understood. */
uint32_t wire_heard_ms(void);

#endif
