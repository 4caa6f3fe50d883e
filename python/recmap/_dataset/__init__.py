"""Data sets: their views, columns and selections, and data sets made of several."""
