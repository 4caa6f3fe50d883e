"""How the positions of an epoch are dealt to ranks: see order.md, "Ranks"."""


def deal(count, position, batch, world, last):
    """Yields the positions of each step: a list for each rank. `last` is keep, drop or pad.

    For an order that makes its own batches, positions are numbers of batches, and `batch` is 1."""
    size = batch * world
    for begin in range(position, count - size + 1, size):
        yield [range(begin + r * batch, begin + (r + 1) * batch) for r in range(world)]
    rest = (count - position) % size
    begin = count - rest
    if rest and last == "keep":
        even, more = divmod(rest, world)
        starts = [begin + r * even + min(r, more) for r in range(world + 1)]
        yield [range(*pair) for pair in zip(starts, starts[1:])]
    if rest and last == "pad":
        places = [q % count for q in range(begin, begin + size)]
        yield [places[r * batch : (r + 1) * batch] for r in range(world)]
