"""A reader of recmap's formats, written from their specifications: see README.md."""
