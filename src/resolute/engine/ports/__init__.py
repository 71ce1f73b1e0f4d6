"""What the engine needs from outside, as small Protocols documented by their promises: one module a kind of adapter.

Adapters do not inherit from these; the type checker and the contract tests hold them to it.
"""
