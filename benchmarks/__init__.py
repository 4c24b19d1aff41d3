"""What Navi costs, measured on real processes. See README.md."""
