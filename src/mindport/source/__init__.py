"""Text, tree, lines and suppressions of one file; knows nothing of torch or MindSpore."""
