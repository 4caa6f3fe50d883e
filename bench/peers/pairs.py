"""Ours and theirs in turns, in one process: times on cores and by the clock, and their ratios.

Each row is printed as a line of JSON; table.py makes Markdown of them.
"""

import gc
import json
import resource
import statistics
import time


class Time:
    """Nanoseconds a unit: on cores, over all threads and ended children, and by the clock."""

    def __init__(self, cpu, clock):
        self.cpu = cpu
        self.clock = clock


def _cpu_ns():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    waited = (children.ru_utime + children.ru_stime) * 1e9
    return time.process_time_ns() + int(waited)


def time_of(function):
    """Of a function that returns how many units it did. Children that it ended are counted."""
    gc.collect()
    cpu, clock = _cpu_ns(), time.perf_counter_ns()
    units = function()
    clock, cpu = time.perf_counter_ns() - clock, _cpu_ns() - cpu
    return Time(cpu / units, clock / units)


def measure(ours, theirs, repeats):
    """Pairs of times; the order within a pair alternates. A first pair is not counted."""
    ours(), theirs()
    pairs = []
    for repeat in range(repeats):
        if repeat % 2:
            second = time_of(theirs)
            pairs.append((time_of(ours), second))
        else:
            pairs.append((time_of(ours), time_of(theirs)))
    return pairs


def report(question, data, says, pairs, goal=None, unit="record"):
    """Prints a row. `says` is {name, checks, copies, parses} of the peer."""
    by_cpu = [theirs.cpu / max(ours.cpu, 1e-9) for ours, theirs in pairs]
    by_clock = [theirs.clock / max(ours.clock, 1e-9) for ours, theirs in pairs]
    median = statistics.median
    row = {
        "question": question,
        "set": data,
        **says,
        "unit": unit,
        "ours_cpu": median(ours.cpu for ours, _ in pairs),
        "ours_clock": median(ours.clock for ours, _ in pairs),
        "theirs_cpu": median(theirs.cpu for _, theirs in pairs),
        "theirs_clock": median(theirs.clock for _, theirs in pairs),
        "cpu": median(by_cpu),
        "cpu_min": min(by_cpu),
        "cpu_max": max(by_cpu),
        "clock": median(by_clock),
        "pairs": len(pairs),
        "goal": goal,
    }
    print(json.dumps(row), flush=True)


def report_absent(question, says, reason):
    """A peer that is not available, and why."""
    row = {"question": question, **says, "absent": str(reason).strip().splitlines()[-1][:200]}
    print(json.dumps(row), flush=True)


def says(name, checks, copies, parses):
    return {"name": name, "checks": checks, "copies": copies, "parses": parses}
