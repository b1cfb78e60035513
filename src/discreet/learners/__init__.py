"""Learners: compositions of a sampler, an estimator, a private release and an update rule."""
