"""A declared field: the common keys of all kinds, and the locations of the values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from evaluation.challenges.declared.table import DeclaredTable, key, title_of
from evaluation.core.challenge import FormColumn
from evaluation.core.field import Field, Files, HiddenField, Kind, Reference, Socket, TableColumns


class FieldTable(DeclaredTable, ABC):
    """One value that is submitted for each case; a subclass for each kind, told apart by ``kind``.

    A subclass sets ``kind: Literal["..."]``, and its docstring is the kind's entry in the documentation.
    """

    kind: str
    title: str | None = key("Title for people. Default: the field's name in words.", None)
    socket: str | None = key(
        "Algorithm phases: slug of the platform's output socket. Default: the field's name with hyphens.",
        None,
    )
    output: str | None = key(
        "Algorithm phases: the socket's relative path, such as `results.json` or `images/masks`. Default: "
        "`<socket>.json`, or `images/<socket>` for images.",
        None,
    )

    is_image: ClassVar[bool] = False

    @abstractmethod
    def field(self, name: str) -> Field:
        """Return the field of that name."""

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return further labels that the metrics of a field need; by default none."""
        return ()

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of `cases.csv` that participants know because of this field; by default none."""
        return ()

    def socket_of(self, name: str, stacked: bool = False) -> Socket:
        """Return the output socket of the field of that name."""
        slug = self.socket or name.replace("_", "-")
        default = f"images/{slug}" if self.is_image else f"{slug}.json"
        return Socket(slug, self.output or default, stacked)

    def title_of(self, name: str) -> str:
        """Return the title of the field of that name."""
        return self.title or title_of(name)


class FileFieldTable(FieldTable):
    """A field with one file for each case, in a submission and in the reference."""

    folder: str | None = key("Folder of the submission's files. Default: the field's name.", None)
    suffix: str = key("What file names have between the case's name and the extension.", "")
    extensions: list[str] | None = key("Accepted extensions. Default: all of the kind.", None, min_length=1)
    reference_folder: str | None = key("Folder of the reference's files. Default: that of `folder`.", None)
    reference_suffix: str | None = key("As `suffix`, for the reference. Default: the same.", None)

    is_image: ClassVar[bool] = True
    all_extensions: ClassVar[tuple[str, ...]] = ()

    def file_field(
        self, name: str, kind: Kind, reference: Kind, readable: tuple[str, ...] | None = None
    ) -> Field:
        """Return the named field, with the kinds of the submitted and the reference value.

        ``readable`` are the readable extensions, by default all of the kind.
        """
        readable = readable or self.all_extensions
        extensions = tuple(self.extensions or readable)
        folder = self.folder or name
        suffix = self.suffix if self.reference_suffix is None else self.reference_suffix
        return Field(
            name=name,
            title=self.title_of(name),
            kind=kind,
            archive=Files(folder, extensions, self.suffix),
            socket=self.socket_of(name),
            reference=Reference(reference, Files(self.reference_folder or folder, readable, suffix)),
        )


class RowFieldTable(FieldTable):
    """A field with one row of a table for each case, or a value in JSON."""

    table: str = key("The csv file of a submission that holds the field.", "predictions.csv")
    key_column: str = key("Column of that table with the case's name.", "case")

    def columns_of(self, columns: tuple[str, ...]) -> TableColumns:
        """Return columns of the submission's table."""
        return TableColumns((self.table,), self.key_column, columns)
