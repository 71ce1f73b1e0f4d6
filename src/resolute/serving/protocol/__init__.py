"""KServe's V1 and V2 as pure functions on bytes and values. No sockets, no model, no torch."""
