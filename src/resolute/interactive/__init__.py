"""Inside the processes of notebooks and TensorBoards: what they show, where they listen, when they are idle."""
