"""Errors of `calipers.pyg`: the builtin classes of the published code, and of this package too."""

from calipers._errors import CalipersError


class MaskError(CalipersError, RuntimeError):
    """Two masks differ in shape, or one holds values that are no labels."""


class NothingAskedError(CalipersError, IndexError):
    """No metric was asked for, or there is nothing to rank."""
