import asyncio
import importlib
from typing import Any, Dict, Generic, List, Mapping, Optional, TypeVar

import voluptuous as vol

from .core import HomeAssistant
from .helpers import entity_platform

SOURCE_USER = "user"
SOURCE_REAUTH = "reauth"
SOURCE_RECONFIGURE = "reconfigure"

ConfigFlowResult = Dict[str, Any]
Data = TypeVar("Data")


class ConfigEntry(Generic[Data]):
    def __init__(self, *, domain: str, title: str, data: Mapping[str, Any], options: Mapping[str, Any], unique_id: Optional[str]) -> None:
        self.domain, self.title, self.data, self.options, self.unique_id = domain, title, dict(data), dict(options), unique_id
        self.runtime_data: Any = None
        self.reauth_started = 0
        self.tasks: List["asyncio.Task[Any]"] = []

    def async_start_reauth(self, hass: HomeAssistant, context: Any = None, data: Any = None) -> None:
        self.reauth_started += 1

    def async_create_background_task(self, hass: HomeAssistant, target: Any, name: str, eager_start: bool = True) -> "asyncio.Task[Any]":
        task = asyncio.ensure_future(target)
        self.tasks.append(task)
        return task


class ConfigEntries:
    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass
        self.entries: List[ConfigEntry[Any]] = []

    async def async_setup(self, entry: ConfigEntry[Any]) -> bool:
        self.entries.append(entry)
        module = importlib.import_module(f"custom_components.{entry.domain}")
        return bool(await module.async_setup_entry(self.hass, entry))

    async def async_unload(self, entry: ConfigEntry[Any]) -> bool:
        module = importlib.import_module(f"custom_components.{entry.domain}")
        done = bool(await module.async_unload_entry(self.hass, entry))
        for task in entry.tasks:
            task.cancel()
        await asyncio.gather(*entry.tasks, return_exceptions=True)
        self.entries.remove(entry)
        return done

    async def async_forward_entry_setups(self, entry: ConfigEntry[Any], platforms: List[Any]) -> None:
        for platform in platforms:
            module = importlib.import_module(f"custom_components.{entry.domain}.{platform.value}")
            added: List[Any] = self.hass.entities.setdefault(platform.value, [])
            entity_platform.current = entity_platform.EntityPlatform(self.hass)
            await module.async_setup_entry(self.hass, entry, lambda entities, update_before_add=False: added.extend(entities))
            for entity in added:
                entity.hass = self.hass
                await entity.async_added_to_hass()

    async def async_unload_platforms(self, entry: ConfigEntry[Any], platforms: List[Any]) -> bool:
        for platform in platforms:
            for entity in self.hass.entities.pop(platform.value, []):
                entity.removed()
        return True


class AbortFlow(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Flow:
    hass: HomeAssistant
    context: Dict[str, Any]

    @property
    def source(self) -> str:
        return str(self.context["source"])

    def async_show_form(self, *, step_id: Optional[str] = None, data_schema: Optional[vol.Schema] = None, errors: Optional[Dict[str, str]] = None,
                        description_placeholders: Optional[Mapping[str, str]] = None, last_step: Optional[bool] = None,
                        preview: Optional[str] = None) -> ConfigFlowResult:
        return {"type": "form", "step_id": step_id, "data_schema": data_schema, "errors": errors, "description_placeholders": description_placeholders}

    def async_show_menu(self, *, step_id: Optional[str] = None, menu_options: Any, description_placeholders: Optional[Mapping[str, str]] = None) -> ConfigFlowResult:
        return {"type": "menu", "step_id": step_id, "menu_options": menu_options}

    def async_abort(self, *, reason: str, description_placeholders: Optional[Mapping[str, str]] = None) -> ConfigFlowResult:
        return {"type": "abort", "reason": reason}

    def add_suggested_values_to_schema(self, data_schema: vol.Schema, suggested_values: Optional[Mapping[str, Any]]) -> vol.Schema:
        return data_schema


class ConfigFlow(_Flow):
    domain: str
    unique_id: Optional[str] = None

    def __init_subclass__(cls, *, domain: str) -> None:
        cls.domain = domain

    async def async_set_unique_id(self, unique_id: Optional[str] = None, *, raise_on_progress: bool = True) -> Optional[ConfigEntry[Any]]:
        self.unique_id = unique_id
        return next((entry for entry in self.hass.config_entries.entries if entry.unique_id == unique_id), None)

    def _abort_if_unique_id_configured(self, updates: Optional[Dict[str, Any]] = None, reload_on_update: bool = True, *, error: str = "already_configured") -> None:
        if any(entry.unique_id == self.unique_id for entry in self.hass.config_entries.entries):
            raise AbortFlow(error)

    def _get_reauth_entry(self) -> ConfigEntry[Any]:
        return self.context["entry"]  # type: ignore[no-any-return]

    _get_reconfigure_entry = _get_reauth_entry

    def async_create_entry(self, *, title: str, data: Mapping[str, Any], description: Optional[str] = None,
                           description_placeholders: Optional[Mapping[str, str]] = None, options: Optional[Mapping[str, Any]] = None) -> ConfigFlowResult:
        entry: ConfigEntry[Any] = ConfigEntry(domain=self.domain, title=title, data=data, options=options or {}, unique_id=self.unique_id)
        return {"type": "create_entry", "title": title, "data": data, "result": entry}

    def async_update_reload_and_abort(self, entry: ConfigEntry[Any], *, unique_id: Any = None, title: Any = None, data: Any = None,
                                      data_updates: Optional[Mapping[str, Any]] = None, options: Any = None, reason: Optional[str] = None,
                                      reload_even_if_entry_is_unchanged: bool = True) -> ConfigFlowResult:
        entry.data = {**entry.data, **(data_updates or {})}
        return self.async_abort(reason=reason or ("reauth_successful" if self.source == SOURCE_REAUTH else "reconfigure_successful"))


class OptionsFlow(_Flow):
    config_entry: ConfigEntry[Any]

    def async_create_entry(self, *, data: Mapping[str, Any], title: Optional[str] = None, description: Optional[str] = None) -> ConfigFlowResult:
        self.config_entry.options = dict(data)
        return {"type": "create_entry", "data": data}


class FlowRunner:
    """Runs a flow as a user does: each answer is checked by the form's schema and given to the step that was shown."""

    def __init__(self, hass: HomeAssistant, flow: Any, context: Dict[str, Any]) -> None:
        flow.hass, flow.context = hass, context
        self.flow = flow
        self.shown: ConfigFlowResult = {}

    async def start(self, *args: Any) -> ConfigFlowResult:
        return await self._run(self.flow.context.get("step", self.flow.context["source"]), *args)

    async def answer(self, given: Any) -> ConfigFlowResult:
        if self.shown["type"] == "menu":
            assert given in self.shown["menu_options"]
            return await self._run(given)
        return await self._run(self.shown["step_id"], self.shown["data_schema"](given))

    async def _run(self, step: str, *args: Any) -> ConfigFlowResult:
        try:
            self.shown = await getattr(self.flow, f"async_step_{step}")(*args)
        except AbortFlow as error:
            self.shown = self.flow.async_abort(reason=error.reason)
        return self.shown


