"""A gallery: short programs that each show one use of the package and draw one picture."""
