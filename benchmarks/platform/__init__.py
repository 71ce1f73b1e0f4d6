"""The platform core: start, submit, short trials, metric ingest, thinning."""
