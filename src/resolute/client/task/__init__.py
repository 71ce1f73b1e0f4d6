"""What talks to the master from inside a task: a trial, its launcher, its data, a model replica."""
