"""Search algorithms: events in, actions out. Pure."""
