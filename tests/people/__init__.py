"""Tests of questions, privacy rules and problems made from people."""
