"""`python -m recmap`: the command of the package."""

from ._command import main

main()
