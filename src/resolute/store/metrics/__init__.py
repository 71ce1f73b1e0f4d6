"""Metrics as columns: many reports in one row, summaries beside them, series thinned on the way out."""
