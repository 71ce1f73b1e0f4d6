"""What can be asked of the machine a process runs on: which process is which, its GPUs, and which
certificates it believes. Knows nothing of trials."""
