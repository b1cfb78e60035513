"""Benchmarks: run them all with ``make bench``, or some with ``python -m benchmarks minimize noise``."""
