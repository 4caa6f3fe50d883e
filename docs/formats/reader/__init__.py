"""A reader of recmap's formats, written from their specifications: see README.md."""


class FormatError(ValueError):
    """The bytes were damaged, or are of a version or kind unknown here."""


def check(condition, problem):
    if not condition:
        raise FormatError(problem)
