from datetime import datetime as moment, time as clock
from typing import Any


def string(value: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        raise ValueError("not a string")
    return str(value)


def ensure_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def time(value: Any) -> clock:
    return value if isinstance(value, clock) else clock.fromisoformat(str(value))


def datetime(value: Any) -> moment:
    return value if isinstance(value, moment) else moment.fromisoformat(str(value))
