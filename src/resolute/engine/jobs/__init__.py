"""What waits and what runs, whatever its kind: the queue, placing, starting, ending."""
