"""A small blog and statistics service, an ability for it, and the story of the main job told on both.

It stands in for a service on the network, so that the whole job runs on one machine: it speaks real HTTP, asks for a
token, has a sign-in page of its own, and answers errors as services do.
"""
