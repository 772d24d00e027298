"""mindport: a static linter and migration advisor for moving PyTorch code to MindSpore."""

__version__ = "0.1.0"
