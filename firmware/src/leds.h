/* One WS2812 under each square, in the order of the squares, shown by palette letter.
 *
 * Letters differ in brightness and in rhythm, never in hue alone. The rhythm is eight steps of an eighth of a second:
 *
 *   .  dark
 *   L  you may play here           soft white, steady
 *   l  a move shown as a hint      faint white, steady
 *   M  the last move               blue, steady
 *   X  this piece may not be here  bright red, fast blinking
 *   B  put it back here            amber, slow blinking
 *   P  a pass                      violet, two short flashes a second
 *   W  the winner's line           bright green, slow blinking against D; after a draw everybody's
 *   D  the other's line            faint green, slow blinking against W
 *   ?  this square cannot be read  yellow, one short flash a second
 *   T  test: red, green and blue together, steady
 */
#ifndef LEDS_H
#define LEDS_H

#include <stdbool.h>
#include <stdint.h>

void leds_start(void);

bool leds_knows(char letter);

/* Show `letter` at a square from the next frame on. */
void leds_set(uint8_t square, char letter);

void leds_clear(void);

/* Send a frame if what is to be seen has changed, and now and then even if not. */
void leds_poll(uint32_t now_ms, bool supply_is_low);

#endif
