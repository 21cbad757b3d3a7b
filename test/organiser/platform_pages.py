"""Pages of rows as grand-challenge.org answers with them."""

SITE = "https://grand-challenge.org/api/v1/"


def pages_of(rows, size, path):
    """Return the pages of a list, which is found at a path with its filters."""

    def address(offset):
        if not 0 <= offset < len(rows):
            return None
        more = [f"limit={size}", *([f"offset={offset}"] if offset else [])]
        return f"{SITE}{path}{'&' if '?' in path else '?'}{'&'.join(more)}"

    return [
        {
            "count": len(rows),
            "next": address(start + size),
            "previous": address(start - size),
            "results": rows[start : start + size],
        }
        for start in range(0, len(rows), size)
    ]
