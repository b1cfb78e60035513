"""All figures: how they look, how they are drawn, and how they are written to files and pages."""
