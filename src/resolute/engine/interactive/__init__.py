"""Tasks that people start by themselves: commands, generic tasks, notebooks, TensorBoards and shells."""
