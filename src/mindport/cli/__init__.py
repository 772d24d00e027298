"""The command line: thin; it reads options, runs the engine and prints a report."""
