"""How well it finds, learns and understands: scripts that are run by hand."""
