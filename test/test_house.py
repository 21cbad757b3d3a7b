"""`docs/house.svg` shows the floors of both wings as they are; `python -m test.test_house` draws it anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from test.repository import REPOSITORY
from test.rooms import ALL_LEAVES
from test.test_architecture import FLOORS, FLOORS_OF_THE_ORGANISER

PICTURE = REPOSITORY / "docs" / "house.svg"
_MOST_IN_A_LINE = 3
_LINE, _GAP, _TOP = 22, 8, 56
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" role="img" \
aria-labelledby="title description">
  <title id="title">The house: two wings and the leaves</title>
  <desc id="description">Left the floors of what the image of a phase runs, right those of what organisers \
run, and above them the leaf rooms. Imports go downwards, and from right to left.</desc>
  <style>
    .card {{ fill: #ffffff; stroke: #d0d7de; }}
    .image {{ fill: #e6f4f1; stroke: #1f7a6d; }}
    .organiser {{ fill: #eef1f8; stroke: #47619b; }}
    .leaf {{ fill: #fdf6e3; stroke: #a07d1c; stroke-dasharray: 4 3; }}
    text {{ font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; \
text-anchor: middle; fill: #1f2328; font-size: 15px; }}
    .wing {{ font-size: 18px; font-weight: 600; }}
    @media (prefers-color-scheme: dark) {{
      .card {{ fill: #161b22; stroke: #30363d; }}
      .image {{ fill: #12332e; stroke: #4fb3a2; }}
      .organiser {{ fill: #1c2740; stroke: #8aa4de; }}
      .leaf {{ fill: #33290f; stroke: #d8b64c; }}
      text {{ fill: #e6edf3; }}
    }}
  </style>
  <rect class="card" x="0.5" y="0.5" width="759" height="{card}" rx="14"/>
"""


def picture() -> str:
    """Return the picture: each floor a box, the lowest one at the bottom of its wing."""
    leaves = [room.removesuffix(".py") for room in sorted(ALL_LEAVES)]
    left, left_height = _stack("image", 24, 300, list(reversed(FLOORS)))
    right, right_height = _stack("organiser", 348, 388, list(reversed(FLOORS_OF_THE_ORGANISER)))
    above, above_height = _stack("leaf", 348, 388, [leaves])
    ground = _TOP + max(left_height, above_height + 24 + right_height)
    parts = [
        _wing("What the image runs", 174, ground - left_height - 14),
        *(part.drawn(ground - left_height) for part in left),
        _wing("What organisers run", 542, ground - right_height - 14),
        *(part.drawn(ground - right_height) for part in right),
        _wing("Leaves, which nothing imports", 542, ground - right_height - 36 - above_height - 14),
        *(part.drawn(ground - right_height - 36 - above_height) for part in above),
    ]
    return _HEAD.format(height=ground + 24, card=ground + 23) + "".join(parts) + "</svg>\n"


@dataclass(frozen=True)
class _Floor:
    """A box with the names of its rooms; ``y`` counts from the top of its stack."""

    style: str
    x: int
    width: int
    y: int
    lines: Sequence[Sequence[str]]

    @property
    def height(self) -> int:
        return len(self.lines) * _LINE + _GAP

    def drawn(self, top: int) -> str:
        y = top + self.y
        box = f'x="{self.x}" y="{y}" width="{self.width}" height="{self.height}"'
        middle = self.x + self.width // 2
        rows = [
            f'  <text x="{middle}" y="{y + 19 + number * _LINE}">{" · ".join(line)}</text>\n'
            for number, line in enumerate(self.lines)
        ]
        return f'  <rect class="{self.style}" {box} rx="5"/>\n{"".join(rows)}'


def _stack(style: str, x: int, width: int, floors: Sequence[Sequence[str]]) -> tuple[list[_Floor], int]:
    """Return the floors of a stack, the highest first, and its height."""
    found, y = list[_Floor](), 0
    for rooms in floors:
        lines = [rooms[start : start + _MOST_IN_A_LINE] for start in range(0, len(rooms), _MOST_IN_A_LINE)]
        found.append(_Floor(style, x, width, y, lines))
        y += found[-1].height + _GAP
    return found, y - _GAP


def _wing(title: str, x: int, y: int) -> str:
    return f'  <text class="wing" x="{x}" y="{y}">{title}</text>\n'


def test_the_picture_of_the_house_shows_its_floors():
    drawn = PICTURE.read_text(encoding="utf-8")
    assert drawn == picture(), "run: python -m test.test_house"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
