"""Use-cases and loops over the ports in `ports.py`."""
