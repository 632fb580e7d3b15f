"""Habilis: abilities for AI agents, in a git-backed home."""

__version__ = "0.1.0"
