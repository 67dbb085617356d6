"""Every kind of input file, broken at random; `python -m tests.doors.fuzz` runs it."""
