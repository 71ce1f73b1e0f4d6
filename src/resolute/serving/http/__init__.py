"""One HTTP/1.1 connection: its reading, order, limits and refusals. Knows nothing of models or deployments."""
