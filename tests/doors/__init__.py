"""Every file that people may hand in, broken at random; `fuzz` is the command."""
