"""Words of `phase.toml` that others replace, for messages about the old ones."""

from collections.abc import Sequence

OF_THE_PLATFORM = ("score", "columns", "unranked_columns", "scoring_method", "counts", "sockets")
"""Keys of the phase that are keys of its table ``platform``."""

_OF_FIELDS = {
    "axes": "dimensions",
    "names": "classes",
    "references": "reference_columns",
    "ignored": "excluded_table",
    "ignored_lesions": "excluded_lesions",
    "others": "background",
}
_REFERENCES = {"points": "reference_table", "keypoints": "reference_table", "boxes": "reference_table"}
_WITH_FORMULA = ("lesion_f1", "multi_scale_structural_similarity")
_WORDS = {"leave_out": "exclude", "left_out": "excluded"}
_OF_MATCHING = {"coco": "by_confidence", "voc": "best_only"}


def new_key(location: Sequence[str | int]) -> str | None:
    """Return the key that replaces the one at a location in the file, None where there is none.

    location: of a key of the phase; of a field, "fields", its name, its kind, the key; of a metric, "tasks",
    the task, "metrics", its name, its kind, the key.
    """
    match location:
        case (str(key),) if key in OF_THE_PLATFORM:
            return f"platform.{key}"
        case ("charts",):
            return "outputs"
        case ("ranking", "score"):
            return "platform.score"
        case ("fields", str(name), str(kind), "reference"):
            return f"fields.{name}.{_REFERENCES.get(kind, 'reference_column')}"
        case ("fields", str(name), _, str(key)) if key in _OF_FIELDS:
            return f"fields.{name}.{_OF_FIELDS[key]}"
        case ("tasks", str(task), "metrics", str(name), str(metric), "reading") if metric in _WITH_FORMULA:
            return f"tasks.{task}.metrics.{name}.formula"
        case ("tasks", str(task), "metrics", str(name), "lesion_froc", "rates"):
            return f"tasks.{task}.metrics.{name}.false_positives_per_case"
    return None


def new_word(key: object, word: object) -> str | None:
    """Return the value that replaces another one of a key, None where there is none."""
    words = _OF_MATCHING if key == "matching" else _WORDS
    return words.get(word) if isinstance(word, str) else None
