"""The value of one case from JSON that may hold a whole stack of cases."""

from __future__ import annotations

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, JsonFileSource, JsonSource, StackSource, fault_at
from evaluation.io.json_files import json_kind, parse_json


class JsonValues:
    """Reads JSON files of a submission; the last stack of every field is kept, so that it is parsed once.

    ``missing`` is the phase's rule ("reject" or "worst") for a null and for a file that is not there.
    """

    def __init__(self, files: FileAccess, missing: str) -> None:
        self._files = files
        self._missing = missing
        self._kept: dict[str, tuple[JsonFileSource, object]] = {}

    def value(self, field: str, source: StackSource | JsonFileSource, case: CaseForm) -> JsonSource | None:
        """Return a case's value of a field, None where it is missing and may be. Raises `FormFault`."""
        content = source.values if isinstance(source, StackSource) else self._content(field, source)
        path = source.file if isinstance(source, StackSource) else source.path
        if content is None:
            self._check_absence(source)
            return None
        if source.entries is None:
            return JsonSource(content, path, source.place)
        if not isinstance(content, list) or len(content) != source.entries:
            found = f"{len(content)} values" if isinstance(content, list) else json_kind(content)
            raise fault_at(source, f"a list of {source.entries} values", found, FaultKind.MALFORMED)
        index = case.stack_index
        entry = JsonSource(content[index], path, source.place, index)
        if entry.value is None:
            self._check_absence(entry)
            return None
        return entry

    def _check_absence(self, source: StackSource | JsonFileSource | JsonSource) -> None:
        if self._missing == "reject":
            raise fault_at(source, "a value", "null", FaultKind.MISSING)

    def _content(self, field: str, source: JsonFileSource) -> object:
        """Return the content of a file, None for one that is missing and may be. Raises `FormFault`."""
        kept, content = self._kept.get(field, (None, None))
        if kept is source or kept == source:
            return content
        try:
            data = self._files.read(source.path, source.limit_bytes)
            content = parse_json(data, finite=False, max_values=source.max_values * (source.entries or 1))
        except ReadError as error:
            if error.kind is not FaultKind.MISSING or self._missing == "reject":
                raise FormFault(error.fault(source.path, source.place)) from None
            content = None
        if source.entries is not None:
            self._kept[field] = (source, content)
        return content
