"""Summaries, figures, pictures, motions and the page of a study."""
