from typing import Any


def string(value: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        raise ValueError("not a string")
    return str(value)
