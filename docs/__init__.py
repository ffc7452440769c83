"""The site: `make docs` builds it, `make docs-serve` shows it."""
