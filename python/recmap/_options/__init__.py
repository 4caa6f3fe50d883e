"""How data sets are opened and built: options, credentials and filesystems."""
