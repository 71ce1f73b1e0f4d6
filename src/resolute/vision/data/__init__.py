"""Training data for detectors: labels, pictures from folders and stores, samples and their order."""
