"""What every other module of the package may use: errors, warnings, names and checks of values."""
