"""Commands: parse, call the client, print."""
