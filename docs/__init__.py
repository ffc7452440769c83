"""The site: `make docs`, `docs-test` and `docs-serve` build, try and show it."""
