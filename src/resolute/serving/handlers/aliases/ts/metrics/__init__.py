"""Names that handlers import."""
