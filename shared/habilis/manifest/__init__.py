"""What an `extension.yaml` says: read, checked, and kept as data."""
