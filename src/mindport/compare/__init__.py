"""Running a torch module and its MindSpore port side by side. Needs both frameworks, imported only when run."""
