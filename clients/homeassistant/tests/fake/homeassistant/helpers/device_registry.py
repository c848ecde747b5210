from enum import Enum
from typing import Optional, Set, Tuple, TypedDict


class DeviceEntryType(str, Enum):
    SERVICE = "service"


class DeviceInfo(TypedDict, total=False):
    identifiers: Set[Tuple[str, str]]
    name: Optional[str]
    manufacturer: Optional[str]
    entry_type: Optional[DeviceEntryType]
    configuration_url: Optional[str]
