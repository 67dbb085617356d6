"""Tests of files and of graphs and tables from other libraries."""
