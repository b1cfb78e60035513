"""The service: private decisions that are kept, for many workers at once, through crashes and for years."""
