"""What makes a bit private: the grid of its values, exact rational numbers, and the guarantee."""
