"""Numbers fast and exact: noise, fused elementwise work, factorizations, graphs."""
