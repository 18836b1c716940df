"""What stands behind `calipers.rung`."""
