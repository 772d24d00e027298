"""``python -m mindport``: the same as the ``mindport`` command."""

from mindport.cli.main import main

if __name__ == "__main__":
    main()
