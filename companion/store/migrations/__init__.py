"""How the match log's tables came to be, one step a module; run by `companion.store.database` when a log is opened."""
