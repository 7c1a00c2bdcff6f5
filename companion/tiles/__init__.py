"""The tile board: a serial line becomes `companion.readings.BoardReading`s, and what may be played becomes light.

In the order of the way in: `wire` (bytes and messages), `session` (what is said when; no port, no clock), `ports`
(which port), `link` (the source), and beside them `light` (what the LEDs show) and `virtual` (a board that is not
there).
"""
