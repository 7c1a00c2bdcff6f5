#include "leds.h"

#include <avr/interrupt.h>
#include <avr/pgmspace.h>
#include <util/atomic.h>

#include "board.h"
#include "clock.h"
#include "serial.h"

#if F_CPU != 16000000UL
#error "the pulses of the LEDs are counted in cycles of 16 MHz"
#endif

#define DARK '.'
#define STEP_MS 125
#define REFRESH_MS 1000 /* for an LED that was plugged in, or read a pulse wrong */

/* How long the line rests before an LED takes a frame for whole: newer WS2812B want 280 us, where the first wanted 50. */
#define LATCH_TICKS (TICKS_PER_MS * 300 / 1000)

/* The cable gives 500 mA. The chip and its multiplexers take under 50; each LED 1 even when dark, and 20 for each colour
 * at 255. What is left goes to light. */
#define USB_MA 500UL
#define BOARD_MA 50UL
#define LED_IDLE_MA 1UL
#define FULL_COLOUR_MA 20UL
#define BUDGET ((USB_MA - BOARD_MA - SQUARES * LED_IDLE_MA) * 255UL / FULL_COLOUR_MA)
#define LOW_SUPPLY_DIVISOR 4

typedef struct {
    char letter;
    uint8_t green; /* in the order of the wire */
    uint8_t red;
    uint8_t blue;
    uint8_t rhythm; /* bit i: lit in step i */
} colour_t;

static const colour_t palette[] PROGMEM = {
    {DARK, 0, 0, 0, 0x00},
    {'L', 48, 48, 40, 0xFF},
    {'l', 10, 10, 8, 0xFF},
    {'M', 4, 0, 110, 0xFF},
    {'X', 0, 220, 0, 0x55},
    {'B', 50, 110, 0, 0x0F},
    {'P', 0, 90, 90, 0x05},
    {'W', 200, 0, 0, 0x0F},
    {'D', 24, 0, 0, 0xF0},
    {'?', 60, 60, 0, 0x01},
    {'T', 255, 255, 255, 0xFF},
};
#define COLOURS (sizeof palette / sizeof palette[0])

static uint8_t shown[SQUARES]; /* an index into palette */
static bool changed;
static bool lit; /* some square may be */
static uint8_t step;
static uint32_t step_ms;
static uint32_t sent_ms;
static uint16_t sent_ticks;

void leds_start(void)
{
    DDRD |= _BV(LED_BIT);
    changed = true;
}

static uint8_t colour_of(char letter)
{
    uint8_t i = 0;

    while (i < COLOURS && (char)pgm_read_byte(&palette[i].letter) != letter)
        i++;
    return i;
}

bool leds_knows(char letter)
{
    return colour_of(letter) < COLOURS;
}

void leds_set(uint8_t square, char letter)
{
    uint8_t colour = colour_of(letter);

    if (shown[square] == colour)
        return;
    shown[square] = colour;
    changed = lit = true;
}

void leds_clear(void)
{
    if (!lit) /* it is asked for every millisecond while there is no host, which the scan of 128 squares would notice */
        return;
    for (uint8_t i = 0; i < SQUARES; i++)
        shown[i] = 0;
    lit = false;
    changed = true;
}

typedef struct {
    uint8_t green;
    uint8_t red;
    uint8_t blue;
} pixel_t;

static pixel_t pixels[COLOURS]; /* the palette in this step of the rhythm, dimmed */

static void mix_pixels(void)
{
    for (uint8_t i = 0; i < COLOURS; i++) {
        colour_t colour;
        memcpy_P(&colour, &palette[i], sizeof colour);
        if (colour.rhythm >> step & 1)
            pixels[i] = (pixel_t){colour.green, colour.red, colour.blue};
        else
            pixels[i] = (pixel_t){0, 0, 0};
    }
}

/* Whether any square looks different in two steps of the rhythm. */
static bool differ(uint8_t a, uint8_t b)
{
    for (uint8_t i = 0; i < SQUARES; i++) {
        uint8_t rhythm = pgm_read_byte(&palette[shown[i]].rhythm);
        if ((rhythm >> a & 1) != (rhythm >> b & 1))
            return true;
    }
    return false;
}

static uint8_t dimmed(uint8_t value, uint16_t scale)
{
    return (uint8_t)((uint32_t)value * scale >> 8);
}

/* Dim every colour alike, so that the cable is not asked for more than it gives. */
static void dim_pixels(bool supply_is_low)
{
    uint32_t budget = supply_is_low ? BUDGET / LOW_SUPPLY_DIVISOR : BUDGET;
    uint32_t wanted = 0;
    uint16_t scale;

    for (uint8_t i = 0; i < SQUARES; i++) {
        const pixel_t *pixel = &pixels[shown[i]];
        wanted += (uint16_t)(pixel->green + pixel->red + pixel->blue);
    }
    if (wanted <= budget)
        return;
    scale = (uint16_t)(budget * 256 / wanted);
    for (uint8_t i = 0; i < COLOURS; i++) {
        pixels[i].green = dimmed(pixels[i].green, scale);
        pixels[i].red = dimmed(pixels[i].red, scale);
        pixels[i].blue = dimmed(pixels[i].blue, scale);
    }
}

/* Eight bits of 20 cycles (1.25 us): high for 6 (0.375 us) is a 0, for 13 (0.8125 us) a 1. */
static inline void send_byte(uint8_t byte, uint8_t high, uint8_t low)
{
    uint8_t bits = 8;

    __asm__ volatile("1: out %[port], %[high]   \n\t" /* 0 */
                     "   rjmp .+0                \n\t" /* 1, 2 */
                     "   rjmp .+0                \n\t" /* 3, 4 */
                     "   sbrs %[byte], 7         \n\t" /* 5, and 6 if it skips */
                     "   out %[port], %[low]     \n\t" /* 6 */
                     "   lsl %[byte]             \n\t" /* 7 */
                     "   rjmp .+0                \n\t" /* 8, 9 */
                     "   rjmp .+0                \n\t" /* 10, 11 */
                     "   nop                     \n\t" /* 12 */
                     "   out %[port], %[low]     \n\t" /* 13 */
                     "   dec %[bits]             \n\t" /* 14 */
                     "   rjmp .+0                \n\t" /* 15, 16 */
                     "   nop                     \n\t" /* 17 */
                     "   brne 1b                 \n\t" /* 18, 19 */
                     : [byte] "+r"(byte), [bits] "+r"(bits)
                     : [port] "I"(_SFR_IO_ADDR(PORTD)), [high] "r"(high), [low] "r"(low));
}

/* Interrupts are off from the first pulse to the last: a pause of a few microseconds is already the end of the frame for
 * some LEDs. A pixel takes 30 us and a byte on the cable 87, so the receiver is looked after by hand in each pixel. */
static void send_frame(void)
{
    uint8_t low = PORTD & (uint8_t)~_BV(LED_BIT);
    uint8_t high = low | _BV(LED_BIT);

    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        for (uint8_t i = 0; i < SQUARES; i++) {
            const pixel_t *pixel = &pixels[shown[i]];
            send_byte(pixel->green, high, low);
            serial_service();
            send_byte(pixel->red, high, low);
            send_byte(pixel->blue, high, low);
        }
    }
}

void leds_poll(uint32_t now_ms, bool supply_is_low)
{
    if (now_ms - step_ms >= STEP_MS) {
        uint8_t next = (step + 1) % 8;
        changed |= differ(step, next);
        step = next;
        step_ms = now_ms;
    }
    if (!changed && now_ms - sent_ms < REFRESH_MS)
        return;
    if ((uint16_t)(clock_ticks() - sent_ticks) < LATCH_TICKS) /* the next millisecond will do */
        return;
    mix_pixels();
    dim_pixels(supply_is_low);
    send_frame();
    sent_ticks = clock_ticks();
    changed = false;
    sent_ms = now_ms;
}
