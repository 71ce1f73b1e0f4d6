"""How much of the official client works against a master, as a page of the documentation."""
