"""Python SDK over the REST API."""
