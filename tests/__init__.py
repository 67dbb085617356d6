"""Tests; a package of this name, so that one that a library has installed is not found in its place."""
