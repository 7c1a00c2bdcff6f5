/* The serial port: 115200 8N1, a ring each way, filled and emptied by interrupt. */
#ifndef SERIAL_H
#define SERIAL_H

#include <stdbool.h>
#include <stdint.h>

void serial_start(void);

/* Send a byte; waits while the ring is full, which is at most one byte time (87 us). */
void serial_put(uint8_t byte);

/* Whether `bytes` more fit into the ring without waiting. */
bool serial_has_room(uint8_t bytes);

/* The next received byte, or -1. */
int16_t serial_get(void);

bool serial_has_input(void);

/* Bytes that were lost because nobody took them in time, since the start. */
uint16_t serial_overruns(void);

/* Take a byte out of the receiver if there is one. For code that runs with interrupts off: call it more often than
 * once in a byte time. */
void serial_service(void);

#endif
