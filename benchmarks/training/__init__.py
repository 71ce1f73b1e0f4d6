"""Benchmarks of what runs inside a trial. Each prints one line per figure; run them on an idle machine."""
