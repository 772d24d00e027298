"""``mindport compare``: run a torch module and its MindSpore port side by side. Needs both frameworks at run time.

Each side runs in a process of its own (`torch_side`, `mindspore_side`) and leaves a record; `judge` reads the two
records and never imports a framework. What the two sides call the same thing lies in ``checks/compare/weights.toml``.
"""
