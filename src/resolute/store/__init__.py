"""Where things are kept: the database, metrics, logs and blobs. Adapters of the ports in `engine.ports`."""
