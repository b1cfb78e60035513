"""One script per erratum of the paper; each prints the numbers of docs/errata.md."""
