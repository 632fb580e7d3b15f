"""Ways to sign in, without input or output."""
