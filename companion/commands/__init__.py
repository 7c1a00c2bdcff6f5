"""The subcommands of `companion`, one module each, and what they share: the only place where parts are put together.

`companion.__main__` has their table and imports them when asked.
"""
