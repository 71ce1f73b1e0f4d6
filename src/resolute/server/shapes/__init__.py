"""From domain objects to wire messages, one file a resource. Reads nothing; decides nothing but shape."""
