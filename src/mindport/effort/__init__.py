"""The estimate: pure functions from what a file uses to lines touched and person-days."""
