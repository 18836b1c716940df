"""What stands behind `calipers.pyg`."""
