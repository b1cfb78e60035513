"""The gallery and the tutorial as notebooks."""
