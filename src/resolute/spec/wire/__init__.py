"""Messages of the REST API, shared by server, client and web UI. Pure."""
