"""What runs a loaded model, one module per kind: detectors, handlers of archives, tensor programs, Python classes."""
