"""The Open Inference Protocol over gRPC: a shell around the data plane."""
