"""Starting one process per slot, with the variables torchrun sets."""
