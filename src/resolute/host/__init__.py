"""What can be asked of the machine a process runs on: which process is which, and its GPUs. Knows nothing of trials."""
