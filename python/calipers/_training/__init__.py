"""What is read from the logs of trainings."""
