"""The home on disk: revisions to read, commits to write, and what is never committed.

`store` says what a home is; `worktree` and `bare` are the two ways to hold one.
"""
