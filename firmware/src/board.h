/* What the tile board is: how many squares it has, and which pin does what.
 *
 * One pass of main() follows a reading from the pin to the cable:
 *
 *   scan.c   select a square, discard one conversion, average some, name what lies there, debounce it
 *   wire.c   tell the host, one line with a checksum; obey the lines that come back
 *   leds.c   show the palette letters that the host asked for
 *   store.c  keep calibration and boot count over a power cut
 *   serial.c bytes in and out
 *   clock.c  milliseconds
 *
 * Only the serial port, the converter and the watchdog interrupt; everything else happens in turn, in main(). Nothing is
 * allocated, and nothing waits but serial_put(), for a byte to leave.
 */
#ifndef BOARD_H
#define BOARD_H

#include <avr/io.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef SQUARES
#define SQUARES 16
#endif
#if SQUARES < 4 || SQUARES > 128
#error "SQUARES must be 4, one plate of the game, to 128: eight multiplexers of sixteen"
#endif

#define PROTOCOL "1"
#define FIRMWARE "1.0.0"
#define HARDWARE "nano-1"

/* D2 to D5 select the channel of every multiplexer; its common pin goes to A0, A1, ... */
#define SELECT_SHIFT 2
#define SELECT_MASK 0x3C
#define SQUARES_PER_MUX 16
#define MUXES ((SQUARES + SQUARES_PER_MUX - 1) / SQUARES_PER_MUX)

/* D6 is the data line of the WS2812 chain. */
#define LED_BIT 6

#define TICKS_PER_MS (F_CPU / 64 / 1000)

#endif
