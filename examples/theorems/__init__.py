"""The theorems' rates beside what is measured."""
