"""Output formats, one file each. A report only prints; it decides nothing."""
