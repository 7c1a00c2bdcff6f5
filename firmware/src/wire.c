#include "wire.h"

#include <avr/pgmspace.h>
#include <stdlib.h>
#include <string.h>
#include <util/crc16.h>

#include "board.h"
#include "clock.h"
#include "leds.h"
#include "scan.h"
#include "serial.h"
#include "store.h"

#define LONGEST_LINE 160 /* LED with a letter for each of 128 squares */
#define CRC_DIGITS 4
#define TROUBLE_EVERY_MS 100
#define TROUBLE_ROOM 64

static uint16_t next_seq;
static uint16_t line_crc;

static char reset_cause;
static uint32_t boot_count;
static bool calibrated;

static char input[LONGEST_LINE];
static uint8_t input_length;
static bool collecting; /* a $ has been seen */
static uint16_t bad_lines;
static uint32_t heard_ms;
static uint32_t trouble_ms = -(uint32_t)TROUBLE_EVERY_MS;

static bool raw_wanted;
static band_t staged[BANDS];
static uint16_t saving_id;

/* ---- out ---- */

static void put(char character)
{
    line_crc = _crc_xmodem_update(line_crc, (uint8_t)character);
    serial_put((uint8_t)character);
}

static void put_text(const char *text)
{
    for (char c; (c = (char)pgm_read_byte(text)) != '\0'; text++)
        put(c);
}

static void put_number(uint32_t number)
{
    char digits[11];

    put(',');
    ultoa(number, digits, 10);
    for (const char *c = digits; *c; c++)
        put(*c);
}

static void put_hex(uint16_t number)
{
    static const char digits[] PROGMEM = "0123456789ABCDEF";

    for (int8_t shift = 12; shift >= 0; shift -= 4)
        put((char)pgm_read_byte(&digits[number >> shift & 0xF]));
}

/* `$KIND,seq,ms`, as every line of the board begins. */
static void begin(const char *kind)
{
    serial_put('$');
    line_crc = 0;
    put_text(kind);
    put_number(next_seq++);
    put_number(clock_ms());
}

static void end(void)
{
    uint16_t crc = line_crc;

    serial_put('*');
    put_hex(crc);
    serial_put('\n');
}

static void put_states(void)
{
    for (uint8_t i = 0; i < SQUARES; i++)
        put(scan_letter(i));
}

static void hello(void)
{
    begin(PSTR("HELLO"));
    put_text(PSTR(",mijnlieff-board," PROTOCOL "," FIRMWARE "," HARDWARE));
    put_number(SQUARES);
    put(',');
    put(reset_cause);
    put_number(boot_count);
    put_number(calibrated);
    end();
}

void wire_state(void)
{
    begin(PSTR("S"));
    put(',');
    put_states();
    end();
}

void wire_change(uint8_t index, char old)
{
    begin(PSTR("E"));
    put_number(index);
    put(',');
    put(old);
    put(',');
    put(scan_letter(index));
    end();
}

static uint16_t state_crc(void)
{
    uint16_t crc = 0;

    for (uint8_t i = 0; i < SQUARES; i++)
        crc = _crc_xmodem_update(crc, (uint8_t)scan_letter(i));
    return crc;
}

void wire_heartbeat(void)
{
    begin(PSTR("H"));
    put(',');
    put_hex(state_crc());
    put_number(scan_count());
    put_number(bad_lines);
    put_number(serial_overruns());
    end();
}

void wire_raw(void)
{
    if (!raw_wanted)
        return;
    begin(PSTR("R"));
    for (uint8_t i = 0; i < SQUARES; i++)
        put_number(scan_code(i));
    end();
}

void wire_trouble(const char *code)
{
    if (!serial_has_room(TROUBLE_ROOM) || clock_ms() - trouble_ms < TROUBLE_EVERY_MS)
        return;
    trouble_ms = clock_ms();
    begin(PSTR("X"));
    put(',');
    put_text(code);
    end();
}

static void acknowledge(uint16_t id)
{
    begin(PSTR("A"));
    put_number(id);
    end();
}

static void refuse(uint16_t id, const char *why)
{
    begin(PSTR("N"));
    put_number(id);
    put(',');
    put_text(why);
    end();
}

/* ---- in ---- */

/* Cut the next word off the line; NULL when there is none. */
static char *next_word(char **rest)
{
    char *word = *rest;

    if (word == NULL)
        return NULL;
    *rest = strchr(word, ',');
    if (*rest != NULL)
        *(*rest)++ = '\0';
    return word;
}

/* The next word as a number up to `most`; false if it is none. */
static bool next_number(char **rest, uint16_t most, uint16_t *number)
{
    const char *word = next_word(rest);
    uint32_t value = 0;

    if (word == NULL || *word == '\0')
        return false;
    for (; *word; word++) {
        if (*word < '0' || *word > '9')
            return false;
        value = value * 10 + (uint8_t)(*word - '0');
        if (value > most)
            return false;
    }
    *number = (uint16_t)value;
    return true;
}

/* A command does its work and gives NULL, or the reason in program memory why it does not. It is told its id only
 * because CAL,SAVE acknowledges later, when all is written: then it gives `later`. */
typedef const char *(*command_t)(uint16_t id, char *rest);

static const char later[] PROGMEM = "later";
static const char bad_arguments[] PROGMEM = "arguments";
static const char out_of_range[] PROGMEM = "range";
static const char bands_overlap[] PROGMEM = "overlap";
static const char low_supply[] PROGMEM = "supply";

static const char *do_nothing(uint16_t id, char *rest)
{
    (void)id;
    return rest == NULL ? NULL : bad_arguments;
}

static const char *do_snapshot(uint16_t id, char *rest)
{
    (void)id;
    if (rest != NULL)
        return bad_arguments;
    if (scan_has_settled()) /* else the state comes by itself, as soon as there is one */
        wire_state();
    return NULL;
}

static const char *do_hi(uint16_t id, char *rest)
{
    if (rest != NULL)
        return bad_arguments;
    hello();
    return do_snapshot(id, rest);
}

static const char *do_raw(uint16_t id, char *rest)
{
    uint16_t wanted;

    (void)id;
    if (!next_number(&rest, 1, &wanted) || rest != NULL)
        return bad_arguments;
    raw_wanted = wanted;
    return NULL;
}

static const char *do_led(uint16_t id, char *rest)
{
    uint16_t offset;
    const char *letters;

    (void)id;
    if (!next_number(&rest, UINT16_MAX, &offset))
        return bad_arguments;
    letters = next_word(&rest);
    if (letters == NULL || rest != NULL)
        return bad_arguments;
    if (offset > SQUARES || strlen(letters) > (uint16_t)(SQUARES - offset))
        return out_of_range;
    for (const char *c = letters; *c; c++) {
        if (!leds_knows(*c))
            return bad_arguments;
    }
    for (; *letters; letters++)
        leds_set((uint8_t)offset++, *letters);
    return NULL;
}

static const char *use_bands(uint16_t id, bool keep)
{
    if (scan_supply_is_low())
        return low_supply;
    if (!scan_bands_are_apart(staged))
        return bands_overlap;
    memcpy(scan_bands, staged, sizeof scan_bands);
    scan_judge_again();
    calibrated = keep;
    saving_id = id;
    store_save(keep ? scan_bands : NULL);
    return later;
}

static const char *do_calibrate(uint16_t id, char *rest)
{
    uint16_t k;
    uint16_t low;
    uint16_t high;

    if (rest != NULL && strcmp_P(rest, PSTR("SAVE")) == 0)
        return use_bands(id, true);
    if (rest != NULL && strcmp_P(rest, PSTR("DEFAULT")) == 0) {
        scan_default_bands(staged);
        return use_bands(id, false);
    }
    if (!next_number(&rest, BANDS - 1, &k) || !next_number(&rest, 1023, &low) || !next_number(&rest, 1023, &high) ||
        rest != NULL)
        return bad_arguments;
    if (low > high)
        return out_of_range;
    staged[k] = (band_t){.low = low, .high = high};
    return NULL;
}

static command_t command_named(const char *name)
{
    if (strcmp_P(name, PSTR("HI")) == 0)
        return do_hi;
    if (strcmp_P(name, PSTR("PING")) == 0)
        return do_nothing;
    if (strcmp_P(name, PSTR("SNAP")) == 0)
        return do_snapshot;
    if (strcmp_P(name, PSTR("RAW")) == 0)
        return do_raw;
    if (strcmp_P(name, PSTR("LED")) == 0)
        return do_led;
    if (strcmp_P(name, PSTR("CAL")) == 0)
        return do_calibrate;
    return NULL;
}

static void obey(char *line)
{
    char *rest = line;
    const char *name = next_word(&rest);
    command_t command = command_named(name);
    const char *problem;
    uint16_t id;

    if (!next_number(&rest, UINT16_MAX, &id)) {
        wire_trouble(bad_arguments);
        return;
    }
    heard_ms = clock_ms();
    problem = command == NULL ? PSTR("command") : command(id, rest);
    if (problem == NULL)
        acknowledge(id);
    else if (problem != later)
        refuse(id, problem);
}

static int8_t hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return (int8_t)(digit - '0');
    return digit >= 'A' && digit <= 'F' ? (int8_t)(digit - 'A' + 10) : -1;
}

/* Whether `text` is exactly the four digits of `crc`. */
static bool spells(const char *text, uint16_t crc)
{
    for (int8_t shift = 12; shift >= 0; shift -= 4, text++) {
        if (hex_value(*text) != (int8_t)(crc >> shift & 0xF))
            return false;
    }
    return *text == '\0';
}

/* Check the line in `input` and leave only its body; false if it is damaged. */
static bool line_is_whole(void)
{
    uint16_t crc = 0;
    char *star;

    input[input_length] = '\0';
    star = strrchr(input, '*');
    if (star == NULL)
        return false;
    *star = '\0';
    for (const char *c = input; *c; c++)
        crc = _crc_xmodem_update(crc, (uint8_t)*c);
    return spells(star + 1, crc);
}

static void reject_line(const char *code)
{
    collecting = false;
    bad_lines++;
    wire_trouble(code);
}

static void take_character(char character)
{
    if (character == '$') {
        if (collecting)
            bad_lines++;
        collecting = true;
        input_length = 0;
    } else if (!collecting || character == '\r') {
        return;
    } else if (character == '\n') {
        if (!line_is_whole()) {
            reject_line(PSTR("crc"));
            return;
        }
        collecting = false;
        obey(input);
    } else if (input_length >= sizeof input - 1) {
        reject_line(PSTR("long"));
    } else {
        input[input_length++] = character;
    }
}

void wire_poll(void)
{
    for (int16_t byte; (byte = serial_get()) >= 0;)
        take_character((char)byte);
    if (store_poll())
        acknowledge(saving_id);
}

uint32_t wire_heard_ms(void)
{
    return heard_ms;
}

void wire_start(char cause, uint32_t boots, bool is_calibrated)
{
    reset_cause = cause;
    boot_count = boots;
    calibrated = is_calibrated;
    memcpy(staged, scan_bands, sizeof staged);
    hello();
}
