"""Benchmarks: run them all with ``make bench``, some with ``python -m benchmarks minimize noise``.

``make results`` also writes them into `docs/results.md`.
"""
