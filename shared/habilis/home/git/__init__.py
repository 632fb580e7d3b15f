"""Git's own files, read and written so that each step survives a crash.

`objects` and `packs` are formats; `database`, `trees`, `refs` and `index` are the parts of a repository; `locks` lives
beside the user's git. Dulwich is loaded where a repository holds what we do not write ourselves, and to reach a remote.
"""
