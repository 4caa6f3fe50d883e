"""What the readers raise: nothing else, whatever the bytes are."""


class FormatError(ValueError):
    """The bytes contradict their specification, or are of a version or kind unknown here."""


def check(condition, problem):
    if not condition:
        raise FormatError(problem)
