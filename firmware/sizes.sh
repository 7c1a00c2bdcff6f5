#!/bin/sh
# sizes.sh ELF SQUARES: how much of the chip a build takes. 30720 bytes are left beside the old Nano boot loader; what
# static variables leave of 2048 bytes is the stack's.
set -eu
avr-size -A "$1" | awk -v squares="$2" '
    $1 == ".text" || $1 == ".data" { flash += $2 }
    $1 == ".data" || $1 == ".bss" || $1 == ".noinit" { ram += $2 }
    END { printf "%3d squares: flash %5d of 30720 bytes, memory %4d of 2048 bytes\n", squares, flash, ram
          exit flash > 30720 || ram > 1750 }'
