#include "scan.h"

#include <avr/interrupt.h>
#include <avr/pgmspace.h>
#include <util/atomic.h>

/* A conversion takes 13 clocks of 125 kHz: 104 us. Four samples of sixteen squares make a scan of 8.3 ms. Larger boards
 * convert twice as fast, which costs a code or so of exactness (data sheet, ADC characteristics: 2 LSB at 200 kHz, 4 at 1
 * MHz) and leaves the wires 52 us to settle; 128 squares make a scan of 20 ms. */
#define FAST (SQUARES > 32)
#define CLOCK_DIVIDER (FAST ? _BV(ADPS2) | _BV(ADPS1) : _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0))
#define CONVERSION_US (FAST ? 52UL : 104UL)
#define SAMPLES (FAST ? 2 : 4)
#define DISCARDED 1
#define SUPPLY_DISCARDED (FAST ? 24 : 12) /* the chip's own reference is slow to settle: 1 ms */
#define SCAN_US ((uint32_t)SQUARES * (DISCARDED + SAMPLES) * CONVERSION_US)

/* How long a square must say the same before it is believed, and how long it may contradict itself before that is
 * reported as unknown. */
#define AT_LEAST(scans, ms) ((ms)*1000UL / SCAN_US > (scans) ? (uint8_t)((ms)*1000UL / SCAN_US) : (scans))
#define SURE_SCANS AT_LEAST(3, 32)
#define SHORT_SCANS AT_LEAST(6, 160)
#define DOUBT_SCANS AT_LEAST(9, 400)

/* Samples of one square further apart than this come from a contact that is moving: no reading. */
#define STEADY_CODES 24

#define SUPPLY_EVERY 128 /* scans */
#define SUPPLY SQUARES   /* stands for a square: the reference of 1.1 V, measured against the supply */
#define REFERENCE_MUX 14
#define LOW_SUPPLY_CODE (1100UL * 1023 / LOW_SUPPLY_MV)

static const band_t default_bands[BANDS] PROGMEM = {
    {0, 69},    {102, 193}, {223, 307}, {336, 426}, {469, 554},
    {583, 663}, {706, 782}, {813, 875}, {903, 959}, {987, 1023},
};

band_t scan_bands[BANDS];

typedef struct {
    uint16_t code;
    uint8_t state; /* what has been told */
    uint8_t seen;  /* what the last scans say */
    uint8_t same;  /* how many of them agree */
    uint8_t away;  /* how many in a row did not say `state` */
} square_t;

static square_t squares[SQUARES];
static uint32_t scans;
static uint32_t judged_from; /* which of them was the first with these windows */
static uint8_t supply_wait;
static bool supply_low;

static uint8_t target; /* a square, or SUPPLY */
static uint8_t conversions;
static uint16_t sum;
static uint16_t lowest;
static uint16_t highest;

static volatile uint16_t converted;
static volatile bool conversion_done;

ISR(ADC_vect)
{
    converted = ADC;
    conversion_done = true;
}

static void start_conversion(void)
{
    conversion_done = false;
    ADCSRA |= _BV(ADSC);
}

static void select_target(uint8_t which)
{
    uint8_t pin = REFERENCE_MUX;

    target = which;
    conversions = 0;
    sum = 0;
    lowest = UINT16_MAX;
    highest = 0;
    if (which != SUPPLY) {
        pin = which / SQUARES_PER_MUX;
        PORTD = (PORTD & (uint8_t)~SELECT_MASK) | (uint8_t)((which % SQUARES_PER_MUX) << SELECT_SHIFT);
    }
    ADMUX = _BV(REFS0) | pin; /* against the supply, so that its voltage cancels out */
    start_conversion();
}

void scan_judge_again(void)
{
    judged_from = scans;
    for (uint8_t i = 0; i < SQUARES; i++) {
        squares[i].state = squares[i].seen = UNKNOWN;
        squares[i].same = squares[i].away = 0;
    }
}

void scan_start(void)
{
    DDRD |= SELECT_MASK;
    ADCSRA = _BV(ADEN) | _BV(ADIE) | CLOCK_DIVIDER;
    DIDR0 = MUXES >= 6 ? 0x3F : (uint8_t)(_BV(MUXES) - 1);
    scan_judge_again();
    supply_wait = 1;
    select_target(0);
}

static uint8_t identity(uint16_t code)
{
    for (uint8_t k = 0; k < BANDS; k++) {
        if (code >= scan_bands[k].low && code <= scan_bands[k].high)
            return k;
    }
    return UNKNOWN;
}

static void count_up(uint8_t *counter)
{
    if (*counter < UINT8_MAX)
        ++*counter;
}

static void judge(square_t *square, uint8_t now)
{
    if (now != square->seen) {
        square->seen = now;
        square->same = 0;
    }
    count_up(&square->same);
    if (now == square->state)
        square->away = 0;
    else
        count_up(&square->away);
}

/* What a square is now, seen over its last scans; its state if that still holds. */
static uint8_t verdict(const square_t *square)
{
    uint8_t needed = square->seen == SHORT ? SHORT_SCANS : SURE_SCANS;

    if (square->seen != UNKNOWN && square->same >= needed)
        return square->seen;
    return square->away >= DOUBT_SCANS ? UNKNOWN : square->state;
}

static void take_average(void)
{
    uint16_t code = (sum + SAMPLES / 2) / SAMPLES;

    if (target == SUPPLY) {
        supply_low = code > LOW_SUPPLY_CODE;
        return;
    }
    squares[target].code = code;
    judge(&squares[target], highest - lowest > STEADY_CODES ? UNKNOWN : identity(code));
}

static void take_sample(uint16_t sample)
{
    uint8_t discarded = target == SUPPLY ? SUPPLY_DISCARDED : DISCARDED;

    if (conversions++ < discarded)
        return;
    sum += sample;
    if (sample < lowest)
        lowest = sample;
    if (sample > highest)
        highest = sample;
    if (conversions == discarded + SAMPLES)
        take_average();
}

/* The square after `square` in the order of a scan: the same channel of every multiplexer, then the next channel. The
 * select lines rest while several pins are read. SUPPLY after the last. */
static uint8_t square_after(uint8_t square)
{
    uint8_t next_channel = square % SQUARES_PER_MUX + 1;

    if (square + SQUARES_PER_MUX < SQUARES)
        return square + SQUARES_PER_MUX;
    return next_channel < SQUARES_PER_MUX && next_channel < SQUARES ? next_channel : SUPPLY;
}

/* Go on to the next square; true when that begins a new scan. */
static bool advance(void)
{
    uint8_t next = target == SUPPLY ? SUPPLY : square_after(target);

    if (next != SUPPLY) {
        select_target(next);
        return false;
    }
    if (target != SUPPLY && --supply_wait == 0) {
        supply_wait = SUPPLY_EVERY;
        select_target(SUPPLY);
        return false;
    }
    select_target(0);
    return true;
}

bool scan_is_waiting(void)
{
    return conversion_done;
}

bool scan_poll(void)
{
    uint16_t sample;

    if (!conversion_done)
        return false;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        sample = converted;
    }
    take_sample(sample);
    if (conversions < (target == SUPPLY ? SUPPLY_DISCARDED : DISCARDED) + SAMPLES) {
        start_conversion();
        return false;
    }
    if (!advance())
        return false;
    scans++;
    return true;
}

int16_t scan_next_change(char *old)
{
    for (uint8_t i = 0; i < SQUARES; i++) {
        uint8_t now = verdict(&squares[i]);
        if (now == squares[i].state)
            continue;
        *old = scan_letter(i);
        squares[i].state = now;
        squares[i].away = 0;
        return i;
    }
    return -1;
}

char scan_letter(uint8_t square)
{
    static const char letters[] PROGMEM = LETTERS;

    return (char)pgm_read_byte(&letters[squares[square].state]);
}

uint16_t scan_code(uint8_t square)
{
    return squares[square].code;
}

bool scan_has_settled(void)
{
    return scans - judged_from > SHORT_SCANS;
}

uint32_t scan_count(void)
{
    return scans;
}

bool scan_supply_is_low(void)
{
    return supply_low;
}

bool scan_bands_are_apart(const band_t bands[BANDS])
{
    for (uint8_t k = 0; k < BANDS; k++) {
        if (bands[k].low > bands[k].high)
            return false;
        if (k > 0 && bands[k].low <= bands[k - 1].high)
            return false;
    }
    return true;
}

void scan_default_bands(band_t bands[BANDS])
{
    memcpy_P(bands, default_bands, sizeof default_bands);
}

void scan_know_no_piece(void)
{
    for (uint8_t k = SHORT + 1; k < EMPTY; k++)
        scan_bands[k] = (band_t){.low = 1, .high = 0}; /* no code is within */
}
