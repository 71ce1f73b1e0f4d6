"""What users write and what travels. Pure."""
