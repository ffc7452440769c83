"""What agents and layers learn: pages of studies, from their runs."""
