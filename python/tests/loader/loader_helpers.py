"""Used by the tests of loaders: the numbers of batches."""


def numbers_of(batches):
    return [batch.numbers.tolist() for batch in batches]


def flat(batches):
    return [number for batch in batches for number in batch]
