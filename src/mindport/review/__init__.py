"""Static review of a port against its original: aligned by name and structure, nothing is executed."""
