"""A display that is drawn again while something runs: in a notebook, or a line on a terminal."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from typing import Any

from .progress import _is_notebook

__all__ = ["LiveDisplay", "sparkline_html"]


class _Drawing:
    """What IPython displays: HTML, or text."""

    def __init__(self, html_: str, text: str) -> None:
        self._html, self._text = html_, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


class LiveDisplay:
    """Draws in place. Elsewhere than in a notebook or on a terminal, it draws nothing."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._is_notebook = _is_notebook()
        self._width = 0

    def draw(self, html_: str, text: str) -> None:
        """Replaces what was drawn. `text` is one line."""
        if self._is_notebook:
            self._draw_html(_Drawing(html_, text))
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def _draw_html(self, drawing: _Drawing) -> None:
        if self._handle is None:
            display: Any = sys.modules["IPython"].display
            self._handle = display.display(drawing, display_id=True)
        else:
            self._handle.update(drawing)

    def close(self) -> None:
        """Ends the line on a terminal."""
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
            self._width = 0


def sparkline_html(values: Sequence[float], label: str) -> str:
    """A small line through values that are not negative, as SVG."""
    high = max(values, default=0.0) or 1.0
    points = " ".join(f"{i},{30 - 28 * value / high:.1f}" for i, value in enumerate(values))
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" width="240" height="32" '
        f'viewBox="0 0 {max(len(values) - 1, 1)} 32" preserveAspectRatio="none">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5" '
        'vector-effect="non-scaling-stroke"/></svg>'
    )
