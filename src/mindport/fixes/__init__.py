"""Turning torch expressions into MindSpore ones, by the API tables."""
