"""What stands behind `calipers.segmentation`."""
