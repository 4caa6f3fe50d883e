"""Orders of records and of rows."""
