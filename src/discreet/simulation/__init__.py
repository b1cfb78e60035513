"""Learners against streams, in compiled loops."""
