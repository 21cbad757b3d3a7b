"""Numbers of the platforms; `scripts/platform_facts.py` says in words what they are, and when last seen."""

PAGE, LARGEST_PAGE = 100, 1000
"""Rows of a page of the API, and the most that ``limit`` asks for."""
MAX_TITLE_LENGTH, MAX_PATH_LENGTH = 64, 255
LIMIT_OF_SUBMISSIONS, LIMIT_PERIOD_DAYS = 0, 1
"""Defaults of a phase."""
MESSAGE_LENGTH, LOG_LINES, LOG_LINE_BYTES = 1024, 500, 1 << 16
"""Most characters of the participant's message; lines and bytes of a line that the log keeps."""
