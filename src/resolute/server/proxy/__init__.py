"""`/proxy/<task id>/...`: requests and websockets passed on to a task that listens, and its answers back."""
