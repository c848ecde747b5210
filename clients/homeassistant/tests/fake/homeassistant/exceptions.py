from typing import Dict, Optional


class HomeAssistantError(Exception):
    def __init__(self, *args: object, translation_domain: Optional[str] = None, translation_key: Optional[str] = None,
                 translation_placeholders: Optional[Dict[str, str]] = None) -> None:
        super().__init__(*args)
        self.translation_domain = translation_domain
        self.translation_key = translation_key
        self.translation_placeholders = translation_placeholders


class ConfigEntryNotReady(HomeAssistantError):
    pass


class ConfigEntryAuthFailed(HomeAssistantError):
    pass
