"""The loader, its pipeline of threads and its statistics."""
