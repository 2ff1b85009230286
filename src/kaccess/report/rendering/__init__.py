"""Pictures of robots: rendered, or sketched where rendering does not work."""
