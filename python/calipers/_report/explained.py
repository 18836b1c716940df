"""Named tuples some of whose fields may be undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers._report.short import short

if TYPE_CHECKING:
    from calipers._report import Report


class Explained:
    """A named tuple that knows why a field is `None`."""

    _reasons: dict[str, str]

    @property
    def undefined(self) -> dict[str, str]:
        """Why a field is `None`, by field."""
        return dict(getattr(self, "_reasons", {}))

    def __repr__(self) -> str:
        return short(self)

    def _explain(self, report: Report, ids: dict[str, str] | None = None) -> None:
        prefix = f"{report.protocol['name']}."
        reasons = {}
        for field in self._fields:  # type: ignore[attr-defined]
            id = (ids or {}).get(field, field)
            if report.get(id) is None:
                reasons[field] = report.undefined.get(prefix + id, "the arrays it needs are not given")
        self._reasons = reasons

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self), {"_reasons": self.undefined}  # type: ignore[arg-type]
