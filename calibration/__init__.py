"""The workshop: everything that is done once, before the first game."""
