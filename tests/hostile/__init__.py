"""Attacks on a study: killed processes, full disks, wrong numbers and names."""
