"""Whether a call may happen: the rules of a project and the limits of an account, decided on plain data."""
