"""Files that travel: `export_starts` copies them as they are. They import no kaccess.

Each is complete in itself, so that one file can be put anywhere. What several of them
need is therefore in each; a test keeps these copies equal.
"""
