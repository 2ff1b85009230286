"""Tests of the search for the pairs that matter."""
