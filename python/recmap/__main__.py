"""`python -m recmap`: the command of the package."""

from ._command import main

if __name__ == "__main__":
    main()
