"""`Model`: train, tune, deploy and roll out from Python. The public door is `resolute.lifecycle`."""
