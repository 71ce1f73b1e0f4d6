"""The router: a process of its own between clients and replicas. It outlives the master and needs nothing of it."""
