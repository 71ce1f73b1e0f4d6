"""Changes are remembered: the outbox that every transaction appends to, and the loop that delivers from it."""
