"""What a call is given, checked where it is given."""
