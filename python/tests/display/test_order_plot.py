"""The picture of an order in a notebook."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import recmap

WIDTH, HEIGHT = 398, 118


def points_of(order):
    """The records that the picture shows, by the heights of its points; None without a picture."""
    html = order._repr_html_()
    match = re.search(r"<svg.*</svg>", html)
    if match is None:
        return None
    path = ElementTree.fromstring(match[0]).find("path").attrib["d"]
    places = np.array(re.findall(r"M(\d+) (\d+)h2", path), float)
    limit = order._order.record_limit()
    assert (np.diff(places[:, 0]) >= 0).all()
    assert places[0, 0] == 0
    assert places[-1, 0] == (WIDTH if len(places) > 1 else 0)
    return (1 - (places[:, 1] - 1) / HEIGHT) * (limit - 1)


def close(shown, numbers, order):
    return np.abs(shown - numbers).max() <= order._order.record_limit() / HEIGHT


def test_points_are_the_records_of_positions():
    order = recmap.Shuffled(100, seed=3)
    assert close(points_of(order), order.at(0, range(100)), order)


def test_records_of_a_mixture():
    sources = [recmap.Sequential(5_000), recmap.Shuffled(10_000, seed=1)]
    order = recmap.Mixture(sources, [3, 1], stop="last")
    positions = [i * (len(order) - 1) // 399 for i in range(400)]
    assert close(points_of(order), order.at(0, positions), order)


def test_rows_and_mixtures_of_rows():
    counts = np.full(300, 10)
    parts = [recmap.Chunked(counts, 64, seed=1), recmap.Windows(np.full(50, 64), 64, seed=2)]
    chunked, windows = parts
    for order in (chunked, windows, recmap.Mixture([chunked, chunked], [1, 2])):
        _, count = order.pieces(0, 0), min(len(order), 400)
        positions = [i * (len(order) - 1) // max(count - 1, 1) for i in range(count)]
        expected = [order.pieces(0, position)[0, 0] for position in positions]
        assert close(points_of(order), expected, order)


def test_selected_records_and_single_ones():
    order = recmap.Shuffled(50, seed=1).select(range(200, 250))
    assert close(points_of(order), order.at(0, range(50)), order)
    assert points_of(recmap.Sequential(1)) == pytest.approx([0])
    assert points_of(recmap.Sequential(0)) is None


def test_large_orders_are_sampled():
    """Positions are samples; a table of very many rows is not prepared for a picture."""
    assert len(points_of(recmap.Shuffled(10**12))) == 400
    counts = np.full(1_000, 2_200, np.uint16)
    assert points_of(recmap.Windows(counts, 1)) is None
    assert points_of(recmap.Chunked(np.full((1 << 23) + 1, 1, np.uint8), 1 << 16)) is None
    assert len(recmap.Sequential(10**12)._repr_html_()) < 10_000
