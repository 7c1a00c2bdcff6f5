#include "store.h"

#include <avr/eeprom.h>
#include <stddef.h>
#include <util/crc16.h>

#define MAGIC 0x4D
#define VERSION 1
#define BLANK 0xFF

typedef struct {
    uint32_t count;
    uint32_t check; /* the complement of count */
} boot_slot_t;

typedef struct {
    uint8_t magic;
    uint8_t version;
    band_t bands[BANDS];
    uint16_t crc; /* CRC-16/XMODEM over all before it */
} record_t;

static boot_slot_t EEMEM boot_slots[2];
static record_t EEMEM stored;

static record_t pending;
static uint8_t pending_at = sizeof(record_t); /* nothing to write */

static uint32_t slot_count(uint8_t i)
{
    boot_slot_t slot;

    eeprom_read_block(&slot, &boot_slots[i], sizeof slot);
    return slot.check == (uint32_t)~slot.count ? slot.count : 0;
}

uint32_t store_count_boot(void)
{
    uint32_t first = slot_count(0);
    uint32_t second = slot_count(1);
    uint8_t older = first > second;
    boot_slot_t slot = {.count = (older ? first : second) + 1};

    slot.check = ~slot.count;
    eeprom_update_block(&slot, &boot_slots[older], sizeof slot);
    return slot.count;
}

static uint16_t record_crc(const record_t *record)
{
    const uint8_t *bytes = (const uint8_t *)record;
    uint16_t crc = 0;

    for (uint8_t i = 0; i < offsetof(record_t, crc); i++)
        crc = _crc_xmodem_update(crc, bytes[i]);
    return crc;
}

static bool is_sound(const record_t *record)
{
    return record->magic == MAGIC && record->version == VERSION && record->crc == record_crc(record);
}

static bool read_record(record_t *record)
{
    eeprom_read_block(record, &stored, sizeof *record);
    return is_sound(record);
}

bool store_load(band_t bands[BANDS])
{
    record_t record;

    if (!read_record(&record))
        return false;
    for (uint8_t k = 0; k < BANDS; k++)
        bands[k] = record.bands[k];
    return true;
}

bool store_is_damaged(void)
{
    record_t record;

    if (read_record(&record))
        return false;
    if (record.magic == MAGIC)
        return true;
    record.magic = MAGIC; /* the mark itself may be what is damaged */
    return is_sound(&record);
}

void store_save(const band_t *bands)
{
    pending.magic = bands ? MAGIC : BLANK;
    pending.version = VERSION;
    for (uint8_t k = 0; bands && k < BANDS; k++)
        pending.bands[k] = bands[k];
    pending.crc = record_crc(&pending);
    pending_at = 0;
}

bool store_is_busy(void)
{
    return pending_at < sizeof pending;
}

bool store_poll(void)
{
    if (!store_is_busy() || !eeprom_is_ready())
        return false;
    eeprom_update_byte((uint8_t *)&stored + pending_at, ((const uint8_t *)&pending)[pending_at]);
    pending_at++;
    return !store_is_busy();
}
