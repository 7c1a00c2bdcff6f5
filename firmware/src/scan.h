/* From a resistance to a letter: select, discard one conversion, average, compare with the windows, debounce. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "store.h"

/* A short, the eight pieces, the empty square, unknown. */
#define LETTERS "!SDPUsdpu.?"
#define SHORT 0
#define EMPTY 9
#define UNKNOWN 10

/* Below this the board dims its LEDs, complains, and does not write to its memory. The chip measures it with its own
 * reference, which is only 10 % exact; the brown-out fuse is the true guard. */
#define LOW_SUPPLY_MV 4200

extern band_t scan_bands[BANDS];

void scan_start(void);

/* Do what can be done; true when a whole scan has just been completed. */
bool scan_poll(void);

/* Whether a conversion is done that scan_poll() has not looked at. */
bool scan_is_waiting(void);

/* The index of the next square whose debounced content has changed, or -1. Its old letter is put into `old`, and its new
 * one becomes the state. */
int16_t scan_next_change(char *old);

/* The debounced letter of a square; UNKNOWN's until it has settled for the first time. */
char scan_letter(uint8_t square);

/* The last averaged code of a square, 0 to 1023. */
uint16_t scan_code(uint8_t square);

/* Whether enough scans are done that every square that can settle has. */
bool scan_has_settled(void);

/* Forget what has settled, because the windows are others now. */
void scan_judge_again(void);

uint32_t scan_count(void);

bool scan_supply_is_low(void);

/* Whether no two windows overlap and each lies in order. */
bool scan_bands_are_apart(const band_t bands[BANDS]);

void scan_default_bands(band_t bands[BANDS]);

/* Take every piece for unknown, because the windows that it was told apart by are lost: by others it might be another. */
void scan_know_no_piece(void);

#endif
