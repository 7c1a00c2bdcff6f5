/* The tile board: see board.h for the way of a reading through these files. */
#include <avr/interrupt.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "board.h"
#include "clock.h"
#include "leds.h"
#include "scan.h"
#include "serial.h"
#include "store.h"
#include "wire.h"

#define HEARTBEAT_MS 1000
#define HOST_GONE_MS 5000
#define RAW_MS 100
#define CHANGE_ROOM 40
#define ALIVE 0x5AC33C5AUL
#define BITTEN 0xA53CC3A5UL

/* These two keep their values through a reset, though not through a loss of power: boot loaders clear the chip's own record
 * of why it started, and then this is all there is to tell. */
static uint8_t reset_flags __attribute__((section(".noinit")));
static uint32_t last_life __attribute__((section(".noinit")));

void keep_reset_flags(void) __attribute__((naked, used, section(".init3")));

/* Before main: after a watchdog reset the watchdog still runs, with its shortest time. */
void keep_reset_flags(void)
{
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

static char why_started(void)
{
    if (reset_flags & _BV(WDRF) || last_life == BITTEN)
        return CAUSE_WATCHDOG;
    if (reset_flags & _BV(PORF))
        return CAUSE_POWER;
    if (reset_flags & _BV(BORF))
        return CAUSE_BROWN_OUT;
    return reset_flags & _BV(EXTRF) || last_life == ALIVE ? CAUSE_RESET : CAUSE_POWER;
}

/* The watchdog first interrupts, and a second time-out resets the chip. The interrupt leaves word and starts the program
 * anew itself, because the old boot loader of the Nano does not survive a reset by the watchdog: it does not switch it off,
 * and is bitten for ever. The reset is left for a program that hangs with interrupts off. */
ISR(WDT_vect)
{
    last_life = BITTEN;
    wdt_disable();
    __asm__ volatile("jmp 0");
}

static void watchdog_start(void)
{
    wdt_enable(WDTO_500MS);
    WDTCSR |= _BV(WDIE);
}

static void report_scan(void)
{
    static bool told;
    char old;

    wdt_reset(); /* here and nowhere else: a board that does not scan is dead, whatever else it does */
    if (!scan_has_settled()) {
        while (scan_next_change(&old) >= 0) {
        }
        told = false;
        return;
    }
    if (!told) {
        told = true;
        wire_state();
    }
    while (serial_has_room(CHANGE_ROOM)) { /* what does not fit is told after the next scan */
        int16_t square = scan_next_change(&old);
        if (square < 0)
            break;
        wire_change((uint8_t)square, old);
    }
}

static void keep_time(uint32_t now_ms)
{
    static uint32_t heartbeat_ms;
    static uint32_t raw_ms;

    if (now_ms - heartbeat_ms >= HEARTBEAT_MS) {
        heartbeat_ms += HEARTBEAT_MS;
        wire_heartbeat();
        if (scan_supply_is_low())
            wire_trouble(PSTR("supply"));
    }
    if (now_ms - raw_ms >= RAW_MS) {
        raw_ms += RAW_MS;
        wire_raw();
    }
    if (now_ms - wire_heard_ms() >= HOST_GONE_MS)
        leds_clear();
}

/* Sleep until something interrupts; the converter does within 104 us. It also reads more quietly so. */
static void rest(void)
{
    cli();
    if (!serial_has_input() && !scan_is_waiting()) {
        sleep_enable();
        sei(); /* takes effect after the next instruction, so nothing slips in between */
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

int main(void)
{
    char cause = why_started();
    bool calibrated;
    bool damaged = store_is_damaged();

    last_life = ALIVE;
    clock_start();
    serial_start();
    leds_start();
    scan_default_bands(scan_bands);
    calibrated = store_load(scan_bands);
    if (damaged)
        scan_know_no_piece();
    scan_start();
    watchdog_start();
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    wire_start(cause, store_count_boot(), calibrated);
    if (damaged)
        wire_trouble(PSTR("eeprom"));
    for (;;) {
        wire_poll();
        if (scan_poll())
            report_scan();
        if (clock_poll()) {
            keep_time(clock_ms());
            leds_poll(clock_ms(), scan_supply_is_low());
        }
        rest();
    }
}
