"""Versions of the schema, one file each; they are never changed once released."""
