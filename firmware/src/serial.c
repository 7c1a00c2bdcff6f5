#include "serial.h"

#include <avr/interrupt.h>
#include <util/atomic.h>

#include "board.h"

#define RX_SIZE 128 /* the longest line of a host that lights 64 squares at once, and some */
#define TX_SIZE 256 /* so that a uint8_t index wraps by itself */

static volatile uint8_t rx_ring[RX_SIZE];
static volatile uint8_t rx_in;
static volatile uint8_t rx_out;
static volatile uint16_t overruns;

static volatile uint8_t tx_ring[TX_SIZE];
static volatile uint8_t tx_in;
static volatile uint8_t tx_out;

void serial_start(void)
{
    /* Double speed, divisor 17: 117647 baud, 2.1 % fast. It is the setting of Optiboot and of every Arduino at 16 MHz. */
    UCSR0A = _BV(U2X0);
    UBRR0 = 16;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

static inline void take_byte(void)
{
    uint8_t flags = UCSR0A;
    uint8_t byte = UDR0;
    uint8_t next = (rx_in + 1) % RX_SIZE;

    if (flags & _BV(DOR0))
        overruns++;
    if (next == rx_out) {
        overruns++;
        return;
    }
    rx_ring[rx_in] = byte;
    rx_in = next;
}

void serial_service(void)
{
    if (UCSR0A & _BV(RXC0))
        take_byte();
}

ISR(USART_RX_vect)
{
    take_byte();
}

ISR(USART_UDRE_vect)
{
    if (tx_in == tx_out) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
        return;
    }
    UDR0 = tx_ring[tx_out];
    tx_out++;
}

void serial_put(uint8_t byte)
{
    uint8_t next = tx_in + 1;

    while (next == tx_out) {
    }
    tx_ring[tx_in] = byte;
    tx_in = next;
    UCSR0B |= _BV(UDRIE0); /* if the interrupt clears it in between, it comes once more and finds the byte */
}

bool serial_has_room(uint8_t bytes)
{
    return (uint8_t)(tx_out - tx_in - 1) >= bytes;
}

bool serial_has_input(void)
{
    return rx_in != rx_out;
}

int16_t serial_get(void)
{
    if (!serial_has_input())
        return -1;
    uint8_t byte = rx_ring[rx_out];
    rx_out = (rx_out + 1) % RX_SIZE;
    return byte;
}

uint16_t serial_overruns(void)
{
    uint16_t seen = 0;

    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        seen = overruns;
    }
    return seen;
}
