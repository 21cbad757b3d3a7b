"""Reads printed tables: makes the input of `rank` from them, and lays its leaderboard beside them.

python table.py input TABLE[,TABLE…] [NAME=CELL,CELL,…] > results.csv
python table.py order LEADERBOARD BOARD
python table.py compare TITLE LEADERBOARD TABLE OURS=PRINTED…
python table.py changes TITLE LEADERBOARD TABLE
python table.py reverse RESULTS > results.csv
python table.py final TITLE LEADERBOARD ROLE=WEIGHT…
"""

from __future__ import annotations

import csv
import sys
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
NOT_VALUES = ("rank", "score", "remark", "reference_sensitivity", "change", "variant_of")


def read(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def remarks() -> dict[tuple[str, str, str], str]:
    """Return the known deviations of what is printed: the reason by table, team and column."""
    return {(row["table"], row["team"], row["column"]): row["reason"] for row in read(HERE / "remarks.csv")}


def write_input(tables: str, *added: str) -> None:
    """Print the values of all tables in one, a team a row; ``added`` teams are not printed in the paper.

    Variants of a team's method are not ranked.
    """
    columns: list[str] = []
    variants: list[str] = []
    values: dict[str, dict[str, str]] = {}
    for path in tables.split(","):
        rows = read(path)
        names = [name for name in rows[0] if name != "team" and not name.endswith(NOT_VALUES)]
        columns = list(dict.fromkeys([*columns, *names]))
        for row in rows:
            values.setdefault(row["team"], {}).update({name: row[name] for name in names})
            variants += [row["team"]] if row.get("variant_of") else []
    for text in added:
        name, _, cells = text.partition("=")
        values[name] = dict(zip(columns, cells.split(","), strict=True))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["team", "eligible", *columns])
    for team, cells in values.items():
        writer.writerow([team, "no" if team in variants else "", *(cells.get(name, "") for name in columns)])


def compare(title: str, leaderboard: str, table: str, *pairs: str) -> int:
    """Print ours beside printed; return 1 where they differ without a known reason."""
    ours = {row["team"]: row for row in read(leaderboard)}
    lines = []
    for row in read(table):
        for pair in pairs:
            own, _, printed = pair.partition("=")
            if row["team"] in ours and row[printed]:
                lines.append((row["team"], printed, ours[row["team"]][own], row[printed]))
    return show(title, lines)


def changes(title: str, leaderboard: str, table: str) -> int:
    """Print the relative changes of variants beside printed ones, in the printed number of decimals."""
    ours = {row["team"]: row for row in read(leaderboard)}
    lines = []
    for row in read(table):
        for column, printed in row.items():
            if (metric := column.removesuffix("_change")) != column:
                own, other = (float(ours[row[name]][f"results.{metric}"]) for name in ("team", "variant_of"))
                decimals = len(printed.partition(".")[2])
                change = 100 * (own - other) / other
                lines.append((row["team"], metric, f"{change:.{decimals}f}", printed))
    return show(title, lines)


def reverse(results: str) -> None:
    """Print a table of results with the values of the teams in reverse order."""
    rows = read(results)
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {**values, "team": row["team"]} for row, values in zip(rows, reversed(rows), strict=True)
    )


def final(title: str, leaderboard: str, *weights: str) -> int:
    """Print the weighted sum of each team's places in the phases beside its score in the final ranking."""
    shares = dict(weight.split("=") for weight in weights)
    lines = []
    for row in read(leaderboard):
        if row["place"]:
            score = sum(Fraction(share) * int(row[f"{role} place"]) for role, share in shares.items())
            lines.append((row["team"], f"place {row['place']}", f"{float(score):g}", row["score"]))
    return show(title, lines)


def show(title: str, lines: list[tuple[str, str, str, str]], tolerance: Fraction = Fraction(0)) -> int:
    """Print lines of team, column, ours and printed; return 1 where they differ without a known reason.

    ``tolerance`` is the rounding of the printed numbers from which ours are computed.
    """
    known, status, equal = remarks(), 0, 0
    print(f"\n{title}\n  {'':<26} {'':<24} {'ours':>12} {'printed':>12}")
    for team, column, ours, printed in lines:
        same = abs(Fraction(ours) - Fraction(printed)) <= tolerance
        reason = known.get((title, team, column), "" if same else "DIFFERENT")
        print(f"  {team:<26} {column:<24} {ours:>12} {printed:>12}  {reason}".rstrip())
        equal += same
        status |= reason == "DIFFERENT"
    print(f"  {equal} of {len(lines)} equal")
    return status


def order(leaderboard: str, board: str) -> None:
    """Print the teams of a board by their places, with their scores."""
    rows = [row for row in read(leaderboard) if row[f"{board} place"]]
    for row in sorted(rows, key=lambda row: int(row[f"{board} place"])):
        print(f"  {row[f'{board} place']:>3}  {row['team']:<26} {row[f'{board} score']:>6}")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if checks := {"compare": compare, "changes": changes, "final": final}.get(command):
        sys.exit(checks(*arguments))
    {"input": write_input, "order": order, "reverse": reverse}[command](*arguments)
