"""Models that are served: deployments, their revisions and replicas, and the roll-out from one to the next."""
