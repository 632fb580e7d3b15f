"""What carries one Request to the other side and returns its Answer."""
