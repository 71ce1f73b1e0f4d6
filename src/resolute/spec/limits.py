"""How large the numbers of a configuration may be, so that one request cannot keep the master busy. No checks here."""

MAX_TRIALS = 100_000
"""Trials of one search, points of one grid, rounds of a population. A search without `max_concurrent_trials` creates
all at once, and a grid with conditions is listed as a whole: at this size either takes seconds."""

MAX_RUNGS = 100
"""Rungs of halving, and brackets of them. Each is a power of the divisor: 64 halvings exceed any length of training."""

MAX_SLOTS = 1_000_000
"""Slots of one trial: far above the largest cluster, and small enough to add up over a queue."""

MAX_NODES = 50_000
"""Values, keys, lists and maps in one document, aliases written out. Reading takes about 60 us for each."""

MAX_LABELS = 1_000
"""Labels of one experiment: each is shown in every list of experiments."""

MAX_PREVIEW_TRIALS = 10_000
"""Trials that a preview over the API simulates. `resolute search simulate` runs at the user's and has no limit."""

PREVIEW_S = 10.0
"""How long a preview may take."""
