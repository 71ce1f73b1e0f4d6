"""Adapters that run gangs: local processes, and a fake."""
