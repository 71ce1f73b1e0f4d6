"""PyTorch training: a Trial says what to train, a Trainer runs it anywhere."""
