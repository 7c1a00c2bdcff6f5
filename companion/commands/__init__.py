"""The subcommands of `companion`, one module each; `companion.__main__` has their table and imports them when asked."""
