"""What a model process may do: decided in `policy`, entered with `enter`, made of what the kernel offers in `linux`.

Nothing here imports more than the standard library: it runs before a model process has loaded anything.
"""
