"""Detection beside its peers, in one run, as ratios."""
