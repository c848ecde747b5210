from typing import Any, Iterable


def async_redact_data(data: Any, to_redact: Iterable[Any]) -> Any:
    if isinstance(data, list):
        return [async_redact_data(one, to_redact) for one in data]
    if not isinstance(data, dict):
        return data
    return {key: "**REDACTED**" if key in to_redact and value not in (None, "") else async_redact_data(value, to_redact) for key, value in data.items()}
