"""Building, opening and writing: what a data set is read from."""
