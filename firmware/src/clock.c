#include "clock.h"

#include "board.h"

static uint16_t last_ticks;
static uint16_t spare_ticks;
static uint32_t milliseconds;

void clock_start(void)
{
    TCCR1A = 0;
    TCCR1B = _BV(CS11) | _BV(CS10); /* F_CPU / 64: 4 us a tick, round in 262 ms */
}

bool clock_poll(void)
{
    uint16_t ticks = clock_ticks();
    bool is_new = false;

    spare_ticks += (uint16_t)(ticks - last_ticks);
    last_ticks = ticks;
    while (spare_ticks >= TICKS_PER_MS) {
        spare_ticks -= TICKS_PER_MS;
        milliseconds++;
        is_new = true;
    }
    return is_new;
}

uint32_t clock_ms(void)
{
    return milliseconds;
}

uint16_t clock_ticks(void)
{
    return TCNT1;
}
