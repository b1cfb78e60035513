"""The service over HTTP: the gate, routes, what they take and give, and what goes wrong."""
