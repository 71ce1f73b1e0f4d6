"""Groups, their members, and who has which role where."""
