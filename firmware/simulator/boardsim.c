/* A whole tile board in one process: a simulated ATmega328P that runs the very .hex of the real one, and around it the
 * multiplexers, dividers, contacts, LEDs and the cable.
 *
 *   boardsim HEX SQUARES [BOOTLOADER]
 *
 * It is led by lines on standard input and answers each with one line on standard output. Time is the chip's own: it
 * passes only in `run`, as fast as the machine can, and equal commands give equal answers.
 *
 *   run US               let time pass             ->  ran CYCLE HEX     what the board has sent, as hex
 *   line US              the same, but only until the board has ended a line
 *   rx HEX               send bytes to the board, one after the other at 115200 baud
 *   put SQUARE OHM [US]  lay a piece of that resistance, `open` for none; its contact bounces for that long
 *   contact SQUARE OHM   resistance of the contacts of a square, added to that of a piece
 *   pullup PIN OHM       the resistor from A0, A1, ... to the supply
 *   noise CODES          noise of the converter, even over plus and minus that
 *   leak UA              current that leaks into each pin
 *   capacity PF          of each common pin's wires
 *   supply MV            the supply, which must cancel out but for the chip's own reference
 *   seed N               of the noise
 *   reset                pull the reset pin, as opening the port does
 *   power                take the supply away and give it back; what was in RAM is lost
 *   hang                 catch the chip in an endless loop, for the watchdog to find
 *   leds                 ->  leds FRAMES HEX LOW0 HIGH0 LOW1 HIGH1 SHORTEST LONGEST  the last whole frame; shortest and
 *                            longest high time of a 0 and of a 1, and of the low time between bits, in cycles
 *   stats                ->  stats LATENCY OVERRUNS STACK   the longest a received byte waited, in cycles; bytes lost in
 *                            the receiver; bytes of the stack that were never used
 *   eeprom AT HEX        write into the memory behind the chip's back
 *   flash                ->  flash HEX  the program memory below the boot loader, up to its last used byte
 *   pty                  ->  pty PATH   make a serial port that any program can open
 *   open                 reset the chip as a program does that opens the port, until its boot loader listens
 *   free PACED           run with the port until the next line comes; PACED 1 keeps to the clock on the wall. With a
 *                        boot loader, time stands until the first byte, and one after a pause is another opening
 *   pump US              let time pass with the port, as fast as the machine can, until the board has sent something
 *   garble HEX           put bytes on the cable that the board never sent
 *   unplug               close the port
 *
 * Everything else answers `ok`, or `error` and why. Copied from nothing; simavr's own headers say how it is asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>

#define FREQUENCY 16000000u
#define CYCLES_PER_US 16u
#define BOOTLOADER_AT 0x7E00u
#define RAM_AT 0x100u
#define RAM_END 0x8FFu
#define EXTERNAL_RESET 0x02u
#define MCUSR_AT 0x54u
#define USART_RX_VECTOR 18u

/* The host sends at exactly 115200; the chip, with its divisor of 17, at 117647. */
#define HOST_BYTE_CYCLES 1389u
#define CHIP_BYTE_CYCLES 1360u

#define MUXES 8
#define PER_MUX 16
#define SAMPLE_AFTER 192      /* cycles: the converter looks 1.5 of its clocks after it was started */
#define SAMPLE_PF 14.0        /* the converter's own capacitor, still charged with the last pin's voltage */
#define BOUNCE_CYCLES 6400u   /* a bouncing contact changes its mind every 0.4 ms */
#define LED_LATCH_CYCLES 4480u /* 280 us low ends a frame; 50 us did for the first WS2812B */
#define LED_ONE_CYCLES 10u    /* longer high than this is a 1 */
#define LED_BYTES (3 * MUXES * PER_MUX)
#define PAINT 0xC5
#define QUIET_CYCLES (FREQUENCY / 2)
#define BLINK_CYCLES (FREQUENCY * 2 / 5) /* what a boot loader does before it listens, of the second that it waits */
#define LINE_SLICE 1600u /* 0.1 ms: how often it is looked whether a line has ended */

static avr_t *avr;
static avr_uart_t *uart;
static unsigned squares;
static uint64_t random_state = 1;

/* ---- the board's electricity ---- */

typedef struct {
    double piece_ohm;   /* INFINITY when there is none */
    double contact_ohm;
    uint64_t bounces_until;
} place_t;

static place_t places[MUXES * PER_MUX];
static double pullup_ohm[MUXES];
static double noise_codes = 0;
static double leak_a = 0;
static double wire_pf = 220;
static double supply_v = 5;

static unsigned selected;          /* by D2 to D5 */
static double volt_then[MUXES];    /* of each common pin when it last began to change */
static uint64_t changed_cycle[MUXES];
static double sampled_volt;        /* on the converter's capacitor */
static int sampled_pin = -1;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double piece_at(unsigned square, uint64_t cycle)
{
    const place_t *place = &places[square];

    if (square >= squares || isinf(place->piece_ohm))
        return INFINITY;
    if (cycle < place->bounces_until) {
        uint64_t dice = (cycle / BOUNCE_CYCLES + square) * 0x9E3779B97F4A7C15u;
        dice ^= dice >> 29;
        if (dice % 3 == 0)
            return INFINITY;
        return place->piece_ohm + place->contact_ohm + (double)(dice >> 8 & 0xFFF);
    }
    return place->piece_ohm + place->contact_ohm;
}

/* The voltage of a common pin at a cycle, on its way from where it was to where the divider pulls it. */
static double pin_volt(unsigned pin, uint64_t cycle)
{
    double siemens = 1 / pullup_ohm[pin] + 1 / piece_at(pin * PER_MUX + selected, cycle);
    double goal = (supply_v / pullup_ohm[pin] + leak_a) / siemens;
    double tau_cycles = wire_pf * 1e-12 / siemens * FREQUENCY;

    return goal + (volt_then[pin] - goal) * exp(-(double)(cycle - changed_cycle[pin]) / tau_cycles);
}

static void begin_change(unsigned pin, double volt)
{
    volt_then[pin] = volt;
    changed_cycle[pin] = avr->cycle;
}

static void on_select(struct avr_irq_t *irq, uint32_t value, void *param)
{
    unsigned bit = 1u << (uintptr_t)param;
    unsigned now = value & 1 ? selected | bit : selected & ~bit;

    (void)irq;
    if (now == selected)
        return;
    for (unsigned pin = 0; pin < MUXES; pin++)
        begin_change(pin, pin_volt(pin, avr->cycle));
    selected = now;
}

static void on_conversion(struct avr_irq_t *irq, uint32_t value, void *param)
{
    union {
        uint32_t value;
        avr_adc_mux_t mux;
    } asked = {.value = value};
    unsigned pin = asked.mux.src;
    double code;

    (void)irq;
    (void)param;
    if (asked.mux.kind != ADC_MUX_SINGLE || pin >= MUXES)
        return;
    if ((int)pin != sampled_pin) {
        double volt = pin_volt(pin, avr->cycle);
        begin_change(pin, volt + (sampled_volt - volt) * SAMPLE_PF / (SAMPLE_PF + wire_pf));
        sampled_pin = (int)pin;
    }
    sampled_volt = pin_volt(pin, avr->cycle + SAMPLE_AFTER);
    code = sampled_volt / supply_v * 1023 + noise_codes * ((double)(next_random() >> 11) / (double)(1ull << 52) - 1);
    code = fmin(fmax(round(code), 0), 1023);
    /* simavr wants millivolts and rounds down what it makes of them */
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, (int)pin), (uint32_t)ceil(code * avr->avcc / 1023));
}

/* ---- the LEDs ---- */

static uint8_t led_building[LED_BYTES + 1];
static uint8_t led_frame[LED_BYTES + 1];
static unsigned led_bits;
static unsigned led_frame_bytes;
static unsigned led_frames;
static uint64_t led_edge;
static bool led_high;
static unsigned pulse_low[2];
static unsigned pulse_high[2];
static unsigned gap_low;
static unsigned gap_high;

static void forget_pulses(void)
{
    pulse_low[0] = pulse_low[1] = gap_low = 0xFFFFFF;
    pulse_high[0] = pulse_high[1] = gap_high = 0;
}

static void widen(unsigned *low, unsigned *high, unsigned cycles)
{
    if (cycles < *low)
        *low = cycles;
    if (cycles > *high)
        *high = cycles;
}

static void finish_frame(void)
{
    if (led_bits == 0 || led_high || avr->cycle - led_edge < LED_LATCH_CYCLES)
        return;
    led_frame_bytes = led_bits / 8;
    memcpy(led_frame, led_building, sizeof led_frame);
    led_frames += led_bits % 8 == 0;
    led_bits = 0;
}

static void on_led_pin(struct avr_irq_t *irq, uint32_t value, void *param)
{
    unsigned cycles = (unsigned)(avr->cycle - led_edge);
    bool high = value & 1;

    (void)irq;
    (void)param;
    if (high == led_high)
        return;
    if (high) {
        finish_frame();
        if (led_bits)
            widen(&gap_low, &gap_high, cycles);
    } else if (led_bits < 8 * LED_BYTES) {
        bool one = cycles > LED_ONE_CYCLES;
        uint8_t *byte = &led_building[led_bits / 8];
        widen(&pulse_low[one], &pulse_high[one], cycles);
        *byte = (uint8_t)(*byte << 1 | one);
        led_bits++;
    }
    led_high = high;
    led_edge = avr->cycle;
}

/* ---- the cable ---- */

static uint8_t to_board[1 << 16];
static unsigned to_board_in;
static unsigned to_board_out;
static uint8_t from_board[1 << 20];
static unsigned from_board_length;
static uint64_t arrived_cycle;
static uint64_t longest_wait;
static unsigned lost_bytes;
static uint64_t heard_cycle;
static int master = -1;
static int slave = -1;

static avr_cycle_count_t deliver_byte(avr_t *chip, avr_cycle_count_t when, void *param)
{
    (void)param;
    if (to_board_in == to_board_out)
        return 0;
    uart->cycles_per_byte = 1; /* it is the end of the byte that is simulated: no more delay */
    avr_raise_irq(avr_io_getirq(chip, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT),
                  to_board[to_board_out++ % sizeof to_board]);
    return when + HOST_BYTE_CYCLES;
}

static void send_to_board(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        to_board[to_board_in++ % sizeof to_board] = bytes[i];
    if (!avr_cycle_timer_status(avr, deliver_byte, NULL))
        avr_cycle_timer_register(avr, HOST_BYTE_CYCLES, deliver_byte, NULL);
}

static void on_sent(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    if (from_board_length < sizeof from_board)
        from_board[from_board_length++] = (uint8_t)value;
}

/* A byte is in the receiver. On the chip, a third one while two wait there is lost. */
static void on_received(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    if (value && !arrived_cycle)
        arrived_cycle = avr->cycle;
}

static void on_taken(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    if (!value || !arrived_cycle)
        return;
    if (avr->cycle - arrived_cycle > longest_wait)
        longest_wait = avr->cycle - arrived_cycle;
    if (avr->cycle - arrived_cycle > 2 * HOST_BYTE_CYCLES)
        lost_bytes++;
    arrived_cycle = 0;
}

/* ---- the chip ---- */

static size_t read_hex(const char *text, uint8_t *bytes, size_t most)
{
    size_t length = 0;
    unsigned byte;

    while (length < most && sscanf(text, "%2x", &byte) == 1) {
        bytes[length++] = (uint8_t)byte;
        text += 2;
    }
    return length;
}

static avr_run_t usual_run;

static void do_not_sleep(avr_t *chip, avr_cycle_count_t cycles)
{
    (void)chip;
    (void)cycles;
}

/* Read a hex file into the program memory. simavr's own reader gives up at a start address, which boot loaders have. */
static bool load_hex(const char *path)
{
    FILE *file = fopen(path, "r");
    char text[600];
    unsigned length = 0;
    unsigned at;
    unsigned type = 9;

    while (file && fgets(text, sizeof text, file)) {
        if (sscanf(text, ":%2x%4x%2x", &length, &at, &type) != 3)
            break;
        if (type == 0 && at + length <= avr->flashend + 1) /* Debian's Optiboot has a stray record beyond the end */
            read_hex(text + 9, avr->flash + at, length);
    }
    if (file)
        fclose(file);
    avr->codeend = avr->flashend;
    return type == 1;
}

/* Where the chip begins: boot loaders sit in the last 512, 1024 or 2048 bytes. */
static uint32_t lowest_boot_code(void)
{
    for (uint32_t at = avr->flashend + 1 - 2048; at < BOOTLOADER_AT; at += 512) {
        if (avr->flash[at] != 0xFF)
            return at;
    }
    return BOOTLOADER_AT;
}

static void connect_board(void)
{
    static uint32_t no_flags = 0;

    for (unsigned bit = 0; bit < 4; bit++)
        avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), IOPORT_IRQ_PIN2 + (int)bit), on_select,
                                (void *)(uintptr_t)bit);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), IOPORT_IRQ_PIN6), on_led_pin, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), on_conversion, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_sent, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on_taken, NULL);
    avr_irq_register_notify(avr_get_interrupt_irq(avr, USART_RX_VECTOR), on_received, NULL);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &no_flags);
    for (avr_io_t *io = avr->io_port; io; io = io->next) {
        if (strcmp(io->kind, "uart") == 0)
            uart = (avr_uart_t *)io;
    }
}

static void make_chip(void)
{
    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr || avr_init(avr)) {
        fputs("error simavr knows no atmega328p\n", stderr);
        exit(1);
    }
    avr->frequency = FREQUENCY;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr->sleep = do_not_sleep;
    usual_run = avr->run;
    avr->log = LOG_ERROR;
    connect_board();
}

static void fill_ram(void)
{
    memset(avr->data + RAM_AT, PAINT, RAM_END - RAM_AT + 1);
}

/* An endless loop in place of the next instruction, until the watchdog resets the chip. */
static uint32_t hang_at;
static uint8_t hang_saved[2];
static bool hanging;

static void end_hang(void)
{
    if (hanging)
        memcpy(avr->flash + hang_at, hang_saved, 2);
    hanging = false;
}

static void reset_chip(uint8_t cause)
{
    end_hang();
    to_board_out = to_board_in;
    arrived_cycle = 0;
    avr_reset(avr);
    avr->data[MCUSR_AT] = cause;
}

static unsigned unused_stack(void)
{
    unsigned longest = 0;
    unsigned run = 0;

    for (unsigned at = RAM_AT; at <= RAM_END; at++) {
        run = avr->data[at] == PAINT ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

static bool run_until(uint64_t cycle)
{
    while (avr->cycle < cycle) {
        int state;
        uart->cycles_per_byte = CHIP_BYTE_CYCLES; /* simavr counts a parity bit that is not there */
        state = avr_run(avr);
        if (avr->run != usual_run || avr->pc == 0)
            end_hang(); /* simavr is about to reset the chip, or the program starts anew */
        if (state == cpu_Done || state == cpu_Crashed)
            return false;
    }
    finish_frame();
    return true;
}

static void hang(void)
{
    while (!avr->sreg[S_I] && avr_run(avr) == cpu_Running) {
        /* simavr does not know that a second time-out resets even with interrupts off */
    }
    hanging = true;
    hang_at = avr->pc;
    memcpy(hang_saved, avr->flash + hang_at, 2);
    avr->flash[hang_at] = 0xFF; /* rjmp .-2 */
    avr->flash[hang_at + 1] = 0xCF;
}

/* ---- the port ---- */

static bool open_port(void)
{
    struct termios raw;

    if (openpty(&master, &slave, NULL, NULL, NULL))
        return false;
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    fcntl(master, F_SETFL, O_NONBLOCK);
    printf("pty %s\n", ttyname(slave));
    return true;
}

static void close_port(void)
{
    if (master >= 0) {
        close(master);
        close(slave);
    }
    master = slave = -1;
}

static void exchange_with_port(void)
{
    uint8_t buffer[256];
    ssize_t length;

    if (master < 0)
        return;
    length = read(master, buffer, sizeof buffer);
    if (length > 0) {
        /* A program that begins to talk has just opened the port, which resets an Arduino; a pty cannot tell that. */
        if (avr->reset_pc && avr->cycle - heard_cycle > QUIET_CYCLES)
            reset_chip(EXTERNAL_RESET);
        heard_cycle = avr->cycle;
        send_to_board(buffer, (size_t)length);
    }
    if (from_board_length) {
        length = write(master, from_board, from_board_length);
        from_board_length = 0; /* what nobody reads is lost, as on a cable */
    }
}

static uint64_t wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* A program opens the port, which resets an Arduino; its boot loader has blinked and listens when this returns. */
static void open_to_program(void)
{
    reset_chip(EXTERNAL_RESET);
    run_until(avr->cycle + BLINK_CYCLES);
}

static void run_free(bool paced)
{
    struct pollfd lines[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = master, .events = POLLIN}};
    uint64_t wall;
    uint64_t began;

    if (avr->reset_pc)
        poll(lines, 2, -1); /* the boot loader waits for a second, the program may take longer to start */
    heard_cycle = avr->cycle;
    wall = wall_us();
    began = avr->cycle;
    while (poll(lines, 1, 0) == 0) {
        uint64_t board_us;
        if (!run_until(avr->cycle + 1000 * CYCLES_PER_US))
            return;
        exchange_with_port();
        board_us = (avr->cycle - began) / CYCLES_PER_US;
        if (paced && board_us > wall_us() - wall)
            usleep((useconds_t)(board_us - (wall_us() - wall)));
    }
}

/* ---- the lines ---- */

static void print_hex(const uint8_t *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < length; i++) {
        putchar(digits[bytes[i] >> 4]);
        putchar(digits[bytes[i] & 15]);
    }
}

static void answer_run(const char *rest, uint64_t slice)
{
    uint64_t end = avr->cycle + strtoull(rest, NULL, 10) * CYCLES_PER_US;
    bool runs = true;

    while (runs && avr->cycle < end && !(slice && from_board_length && from_board[from_board_length - 1] == '\n'))
        runs = run_until(slice && avr->cycle + slice < end ? avr->cycle + slice : end);
    if (!runs) {
        puts("error the chip has stopped");
        return;
    }
    printf("ran %llu ", (unsigned long long)avr->cycle);
    print_hex(from_board, from_board_length);
    putchar('\n');
    from_board_length = 0;
}

/* Let time pass with the port open, until the board has sent something. */
static void pump(const char *rest)
{
    uint64_t end = avr->cycle + strtoull(rest, NULL, 10) * CYCLES_PER_US;
    bool sent = false;

    while (avr->cycle < end && !sent && run_until(avr->cycle + 1000 * CYCLES_PER_US)) {
        sent = from_board_length > 0;
        exchange_with_port();
    }
    printf("ran %llu \n", (unsigned long long)avr->cycle);
}

static void answer_leds(void)
{
    finish_frame();
    printf("leds %u ", led_frames);
    print_hex(led_frame, led_frame_bytes);
    printf(" %u %u %u %u %u %u\n", pulse_low[0], pulse_high[0], pulse_low[1], pulse_high[1], gap_low, gap_high);
    forget_pulses();
}

static void answer_flash(void)
{
    size_t length = BOOTLOADER_AT;

    while (length && avr->flash[length - 1] == 0xFF)
        length--;
    fputs("flash ", stdout);
    print_hex(avr->flash, length);
    putchar('\n');
}

static bool answer_question(const char *name, const char *rest)
{
    if (strcmp(name, "run") == 0)
        answer_run(rest, 0);
    else if (strcmp(name, "line") == 0)
        answer_run(rest, LINE_SLICE);
    else if (strcmp(name, "pump") == 0)
        pump(rest);
    else if (strcmp(name, "leds") == 0)
        answer_leds();
    else if (strcmp(name, "stats") == 0)
        printf("stats %llu %u %u\n", (unsigned long long)longest_wait, lost_bytes, unused_stack());
    else if (strcmp(name, "flash") == 0)
        answer_flash();
    else if (strcmp(name, "pty") == 0 && !open_port())
        printf("error no pty: %s\n", strerror(errno));
    else
        return strcmp(name, "pty") == 0;
    return true;
}

static void lay_piece(unsigned square, const char *ohm, double bounce_us)
{
    places[square].piece_ohm = strcmp(ohm, "open") == 0 ? INFINITY : fmax(atof(ohm), 0.01); /* no wire is perfect */
    places[square].bounces_until = avr->cycle + (uint64_t)(bounce_us * CYCLES_PER_US);
}

static bool set_value(const char *name, unsigned index, const char *text)
{
    double value = atof(text);

    if (strcmp(name, "contact") == 0 && index < MUXES * PER_MUX)
        places[index].contact_ohm = value;
    else if (strcmp(name, "pullup") == 0 && index < MUXES)
        pullup_ohm[index] = value;
    else
        return false;
    return true;
}

static bool set_world(const char *name, const char *text)
{
    double value = atof(text);

    if (strcmp(name, "noise") == 0)
        noise_codes = value;
    else if (strcmp(name, "leak") == 0)
        leak_a = value * 1e-6;
    else if (strcmp(name, "capacity") == 0)
        wire_pf = value;
    else if (strcmp(name, "supply") == 0)
        supply_v = value / 1000, avr->vcc = avr->avcc = avr->aref = (uint32_t)value;
    else if (strcmp(name, "seed") == 0)
        random_state = (uint64_t)value * 2654435761u + 1;
    else
        return false;
    return true;
}

static void write_eeprom(unsigned at, const char *text)
{
    uint8_t bytes[1024];
    avr_eeprom_desc_t piece = {.ee = bytes, .offset = (uint16_t)at};

    piece.size = read_hex(text, bytes, sizeof bytes);
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &piece);
}

static bool obey_event(const char *name, const char *rest)
{
    uint8_t bytes[1 << 15];

    if (strcmp(name, "rx") == 0)
        send_to_board(bytes, read_hex(rest, bytes, sizeof bytes));
    else if (strcmp(name, "reset") == 0)
        reset_chip(EXTERNAL_RESET);
    else if (strcmp(name, "power") == 0)
        fill_ram(), reset_chip(1);
    else if (strcmp(name, "hang") == 0)
        hang();
    else if (strcmp(name, "open") == 0)
        open_to_program();
    else if (strcmp(name, "free") == 0)
        run_free(atoi(rest));
    else if (strcmp(name, "unplug") == 0)
        close_port();
    else if (strcmp(name, "garble") == 0)
        return write(master, bytes, read_hex(rest, bytes, sizeof bytes)) > 0;
    else
        return false;
    return true;
}

static void obey(char *line)
{
    static char first[1 << 16];
    char name[16] = "";
    char second[32] = "";
    char third[32] = "0";
    int words = sscanf(line, "%15s %65535s %31s %31s", name, first, second, third);
    unsigned index = (unsigned)strtoul(first, NULL, 10);

    if (words < 2)
        first[0] = '\0';
    if (answer_question(name, first))
        return;
    if (strcmp(name, "put") == 0 && words >= 3 && index < MUXES * PER_MUX)
        lay_piece(index, second, atof(third));
    else if (strcmp(name, "eeprom") == 0 && words == 3)
        write_eeprom(index, strchr(strchr(line, ' ') + 1, ' ') + 1);
    else if (!(words == 3 && set_value(name, index, second)) && !(words == 2 && set_world(name, first)) &&
             !obey_event(name, first)) {
        printf("error what is %s", line);
        return;
    }
    puts("ok");
}

int main(int argc, char **argv)
{
    static char line[1 << 17];

    if (argc < 3 || argc > 4) {
        fputs("usage: boardsim HEX SQUARES [BOOTLOADER]; HEX may be - for a blank chip\n", stderr);
        return 2;
    }
    squares = (unsigned)atoi(argv[2]);
    for (unsigned i = 0; i < MUXES * PER_MUX; i++)
        places[i].piece_ohm = INFINITY;
    for (unsigned pin = 0; pin < MUXES; pin++)
        pullup_ohm[pin] = 10000;
    forget_pulses();
    make_chip();
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "-") != 0 && !load_hex(argv[i])) {
            fprintf(stderr, "cannot read %s as a hex file\n", argv[i]);
            return 1;
        }
    }
    if (argc == 4)
        avr->reset_pc = lowest_boot_code();
    fill_ram();
    reset_chip(1);
    setvbuf(stdout, NULL, _IOLBF, 1 << 21);
    puts("ok");
    while (fgets(line, sizeof line, stdin))
        obey(line);
    close_port();
    return 0;
}
