"""What people look at: summaries, figures and renderings."""
