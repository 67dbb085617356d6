"""Files and other people's objects: tables, problems and mechanisms on disk, NetworkX, SciPy and data frames."""
