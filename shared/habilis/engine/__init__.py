"""The verbs: one file each, over a home and the world outside."""
