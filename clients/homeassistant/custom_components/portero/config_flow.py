"""Connects a building: its service's address, then a key or a code by e-mail, then the building."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import voluptuous as vol

from homeassistant.config_entries import SOURCE_REAUTH, ConfigFlow, ConfigFlowResult, OptionsFlow
from homeassistant.const import CONF_API_KEY, CONF_EMAIL, CONF_URL
from homeassistant.core import callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import (
    BooleanSelector, NumberSelector, NumberSelectorConfig, NumberSelectorMode, SelectOptionDict, SelectSelector, SelectSelectorConfig,
    TextSelector, TextSelectorConfig, TextSelectorType)

from .api import (PorteroApi, PorteroApiError, PorteroAuthError, PorteroCertificateError, PorteroConnectionError, PorteroError,
                  normal_fingerprint, normal_url)
from .const import (CONF_BUILDING, CONF_CODE, CONF_FINGERPRINT, DEFAULT_MINUTES, DEFAULT_SINGLE_USE, DOMAIN, OPTION_MINUTES, OPTION_SINGLE_USE)
from .coordinator import PorteroConfigEntry

_CODES = {"INVALID_OTP": "invalid_code", "INVALID_EMAIL": "invalid_email", "LINKED_ACCOUNT": "invalid_email", "OTP_RATE_LIMIT": "too_many_codes",
          "AUTH_RATE_LIMIT": "too_many_codes", "KEY_LIMIT": "key_limit"}


def error_key(error: PorteroError) -> str:
    """The text of the form for a failure."""
    if isinstance(error, PorteroApiError):
        return _CODES.get(error.code, "invalid_auth" if isinstance(error, PorteroAuthError) else "refused")
    return "certificate" if isinstance(error, PorteroCertificateError) else "cannot_connect"


def _text(kind: TextSelectorType) -> TextSelector:
    return TextSelector(TextSelectorConfig(type=kind))


class PorteroConfigFlow(ConfigFlow, domain=DOMAIN):
    """The steps: user, auth (a menu), key or email and code, building. Re-authentication begins at the menu."""

    VERSION = 1

    def __init__(self) -> None:
        self._connection: dict[str, Any] = {}
        self._email = ""
        self._challenge = ""
        self._key = ""
        self._buildings: list[dict[str, Any]] = []

    def _api(self, key: str | None = None) -> PorteroApi:
        return PorteroApi(async_get_clientsession(self.hass), self._connection[CONF_URL], key, self._connection[CONF_FINGERPRINT])

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._connect(user_input)
            if not errors:
                return await self.async_step_auth()
        schema = vol.Schema({vol.Required(CONF_URL): _text(TextSelectorType.URL), vol.Optional(CONF_FINGERPRINT): _text(TextSelectorType.TEXT)})
        return self.async_show_form(step_id="user", data_schema=self.add_suggested_values_to_schema(schema, user_input), errors=errors)

    async def _connect(self, given: dict[str, Any]) -> dict[str, str]:
        """Takes address and fingerprint, if the service answers there: the errors."""
        try:
            url = normal_url(given[CONF_URL])
        except ValueError:
            return {CONF_URL: "invalid_url"}
        try:
            fingerprint = normal_fingerprint(given.get(CONF_FINGERPRINT, ""))
        except ValueError:
            return {CONF_FINGERPRINT: "invalid_fingerprint"}
        self._connection = {CONF_URL: url, CONF_FINGERPRINT: fingerprint}
        try:
            await self._api().check()
        except PorteroError as error:
            return {"base": error_key(error)}
        return {}

    async def async_step_auth(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        return self.async_show_menu(step_id="auth", menu_options=["key", "email"])

    async def async_step_key(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                return await self._signed_in(user_input[CONF_API_KEY].strip())
            except PorteroError as error:
                errors["base"] = error_key(error)
            except PermissionError:
                errors["base"] = "missing_scopes"
        return self.async_show_form(step_id="key", data_schema=vol.Schema({vol.Required(CONF_API_KEY): _text(TextSelectorType.PASSWORD)}), errors=errors)

    async def async_step_email(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            self._email = user_input[CONF_EMAIL].strip()
            try:
                self._challenge = await self._api().send_code(self._email)
                return await self.async_step_code()
            except PorteroError as error:
                errors["base"] = error_key(error)
        return self.async_show_form(step_id="email", data_schema=vol.Schema({vol.Required(CONF_EMAIL): _text(TextSelectorType.EMAIL)}), errors=errors)

    async def async_step_code(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                return await self._signed_in(await self._api().exchange_code(self._email, self._challenge, user_input[CONF_CODE].strip()))
            except PorteroError as error:
                errors["base"] = error_key(error)
            except PermissionError:
                errors["base"] = "missing_scopes"
        return self.async_show_form(step_id="code", data_schema=vol.Schema({vol.Required(CONF_CODE): _text(TextSelectorType.TEXT)}), errors=errors,
                                    description_placeholders={"email": self._email})

    async def _signed_in(self, key: str) -> ConfigFlowResult:
        """Goes on with a key. Raises PorteroError, or PermissionError if a scope is missing."""
        api = self._api(key)
        if await api.missing_scopes():
            raise PermissionError
        self._key = key
        self._buildings = await api.buildings()
        if self.source == SOURCE_REAUTH:
            return await self._renew()
        if len(self._buildings) == 1:
            return await self._finish(self._buildings[0])
        return await self.async_step_building()

    async def async_step_building(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        if user_input is not None:
            return await self._finish(next(one for one in self._buildings if one["id"] == user_input[CONF_BUILDING]))
        options = [SelectOptionDict(value=one["id"], label=one["label"]) for one in self._buildings]
        return self.async_show_form(step_id="building", data_schema=vol.Schema(
            {vol.Required(CONF_BUILDING): SelectSelector(SelectSelectorConfig(options=options))}))

    async def _finish(self, building: dict[str, Any]) -> ConfigFlowResult:
        await self.async_set_unique_id(building["id"])
        self._abort_if_unique_id_configured()
        return self.async_create_entry(title=building["label"], data={**self._connection, CONF_API_KEY: self._key, CONF_BUILDING: building["id"]})

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        self._connection = {CONF_URL: entry_data[CONF_URL], CONF_FINGERPRINT: entry_data[CONF_FINGERPRINT]}
        return await self.async_step_auth()

    async def _renew(self) -> ConfigFlowResult:
        entry = self._get_reauth_entry()
        if not any(one["id"] == entry.data[CONF_BUILDING] for one in self._buildings):
            return self.async_abort(reason="wrong_account")
        return self.async_update_reload_and_abort(entry, data_updates={CONF_API_KEY: self._key})

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Another address or certificate of the same service, with the key that is there."""
        entry = self._get_reconfigure_entry()
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._connect(user_input)
            if not errors:
                try:
                    known = await self._api(entry.data[CONF_API_KEY]).buildings()
                except PorteroError as error:
                    errors = {"base": error_key(error)}
                else:
                    if any(one["id"] == entry.data[CONF_BUILDING] for one in known):
                        return self.async_update_reload_and_abort(entry, data_updates=self._connection)
                    return self.async_abort(reason="wrong_account")
        schema = vol.Schema({vol.Required(CONF_URL): _text(TextSelectorType.URL), vol.Optional(CONF_FINGERPRINT): _text(TextSelectorType.TEXT)})
        return self.async_show_form(step_id="reconfigure", data_schema=self.add_suggested_values_to_schema(schema, user_input or entry.data), errors=errors)

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: PorteroConfigEntry) -> PorteroOptionsFlow:
        return PorteroOptionsFlow()


class PorteroOptionsFlow(OptionsFlow):
    """How unlocking works. The lock reads the options when it is used, so nothing is loaded again."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        if user_input is not None:
            return self.async_create_entry(data={**user_input, OPTION_MINUTES: int(user_input[OPTION_MINUTES])})
        options = self.config_entry.options
        minutes = NumberSelector(NumberSelectorConfig(min=1, max=1440, step=1, mode=NumberSelectorMode.BOX, unit_of_measurement="min"))
        return self.async_show_form(step_id="init", data_schema=vol.Schema({
            vol.Required(OPTION_MINUTES, default=options.get(OPTION_MINUTES, DEFAULT_MINUTES)): minutes,
            vol.Required(OPTION_SINGLE_USE, default=options.get(OPTION_SINGLE_USE, DEFAULT_SINGLE_USE)): BooleanSelector(),
        }))
