"""A seeded set that looks like xView: ground with texture, sixty classes of oriented shapes, labels with defects."""
