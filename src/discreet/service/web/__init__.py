"""The service over HTTP: middleware, routes, models and errors."""
