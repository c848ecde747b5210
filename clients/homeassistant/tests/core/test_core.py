"""All that a user of Home Assistant does with the integration."""
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date
import json
import os
from typing import Any
from urllib.parse import quote

import pytest
import voluptuous as vol

from homeassistant.components.lock import LockEntityFeature
from homeassistant.config_entries import SOURCE_REAUTH, SOURCE_USER, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.components.diagnostics import get_diagnostics_for_config_entry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator, WebSocketGenerator

from conftest import House, Relay, Until
from custom_components.portero.api import SCOPES
from sandbox import FINGERPRINT, URL, Resident

PLACE = {"url": URL + "/", "fingerprint": FINGERPRINT}
Connect = Callable[..., Awaitable[House]]


async def begin(hass: HomeAssistant, choice: str) -> Any:
    """A dialog up to the choice of how to get a key."""
    shown = await hass.config_entries.flow.async_init("portero", context={"source": SOURCE_USER})
    assert (shown["type"], shown["step_id"], shown["errors"]) == (FlowResultType.FORM, "user", {})
    shown = await hass.config_entries.flow.async_configure(shown["flow_id"], PLACE)
    assert (shown["type"], shown["menu_options"]) == (FlowResultType.MENU, ["key", "email"])
    return await hass.config_entries.flow.async_configure(shown["flow_id"], {"next_step_id": choice})


async def answer(hass: HomeAssistant, shown: Any, given: dict[str, Any]) -> Any:
    return await hass.config_entries.flow.async_configure(shown["flow_id"], given)


async def unload_all(hass: HomeAssistant) -> None:
    for entry in hass.config_entries.async_entries("portero"):
        await hass.config_entries.async_unload(entry.entry_id)


class TestConnecting:
    async def test_a_wrong_key_is_told_and_a_right_one_makes_the_entry_once(self, hass: HomeAssistant, person: Resident) -> None:
        shown = await begin(hass, "key")
        shown = await answer(hass, shown, {"api_key": "svc_agent_nonsense"})
        assert (shown["type"], shown["errors"]) == (FlowResultType.FORM, {"base": "invalid_auth"})
        shown = await answer(hass, shown, {"api_key": await person.agent(["account:read"])})
        assert shown["errors"] == {"base": "missing_scopes"}
        shown = await answer(hass, shown, {"api_key": await person.agent(SCOPES)})
        assert (shown["type"], shown["title"]) == (FlowResultType.CREATE_ENTRY, "Home")
        entry = shown["result"]
        assert (entry.unique_id, entry.data["url"], entry.data["building_id"]) == (person.building, URL, person.building)
        await hass.async_block_till_done()
        assert entry.state is ConfigEntryState.LOADED
        again = await answer(hass, await begin(hass, "key"), {"api_key": await person.agent(SCOPES)})
        assert (again["type"], again["reason"]) == (FlowResultType.ABORT, "already_configured")
        await unload_all(hass)

    async def test_a_code_by_e_mail_makes_a_key_of_its_own(self, hass: HomeAssistant, person: Resident) -> None:
        shown = await answer(hass, await begin(hass, "email"), {"email": person.email})
        assert (shown["step_id"], shown["description_placeholders"]) == ("code", {"email": person.email})
        code = await person.code()
        shown = await answer(hass, shown, {"code": f"{(int(code) + 1) % 1000000:06}"})
        assert shown["errors"] == {"base": "invalid_code"}
        shown = await answer(hass, shown, {"code": code})
        assert shown["type"] is FlowResultType.CREATE_ENTRY
        await hass.async_block_till_done()
        keys = [key for key in (await person.ask("GET", "/v1/auth/keys"))["data"] if key["type"] == "agent"]
        assert [(key["name"], key["scopes"]) for key in keys] == [("Home Assistant", SCOPES)]
        await unload_all(hass)

    @pytest.mark.parametrize(("given", "errors"), [
        ({"url": URL.replace("https", "http")}, {"url": "invalid_url"}), ({"url": URL, "fingerprint": "ab"}, {"fingerprint": "invalid_fingerprint"}),
        ({"url": URL}, {"base": "certificate"}), ({"url": URL, "fingerprint": "ab" * 32}, {"base": "certificate"}),
        ({"url": "https://localhost:9"}, {"base": "cannot_connect"}), ({"url": URL + "/sandbox", "fingerprint": FINGERPRINT}, {"base": "refused"})])
    async def test_an_address_that_is_not_the_services_or_not_trusted_is_told(self, hass: HomeAssistant, given: dict[str, str], errors: dict[str, str]) -> None:
        shown = await hass.config_entries.flow.async_init("portero", context={"source": SOURCE_USER})
        shown = await answer(hass, shown, given)
        assert (shown["type"], shown["errors"]) == (FlowResultType.FORM, errors)

    async def test_each_error_field_and_step_has_a_text_in_each_language(self, hass: HomeAssistant) -> None:
        texts = {}
        for language in ("en", "es", "fr"):
            texts[language] = await async_get_translations(hass, language, "config", {"portero"})
            for name in ("step.user.data.url", "step.key.data.api_key", "error.missing_scopes", "abort.wrong_account", "step.auth.menu_options.email"):
                assert texts[language][f"component.portero.config.{name}"]
        assert set(texts["en"]) == set(texts["es"]) == set(texts["fr"])

    async def test_options_of_unlocking_are_kept(self, hass: HomeAssistant, house: House) -> None:
        shown = await hass.config_entries.options.async_init(house.entry.entry_id)
        with pytest.raises(InvalidData):
            await hass.config_entries.options.async_configure(shown["flow_id"], {"unlock_minutes": 0, "single_use": False})
        made = await hass.config_entries.options.async_configure(shown["flow_id"], {"unlock_minutes": 90, "single_use": False})
        assert made["type"] is FlowResultType.CREATE_ENTRY
        await hass.async_block_till_done()
        await house.act("unlock")
        grant = (await house.person.ask("GET", "/v1/unlock?status=active"))["data"][0]
        assert (grant["type"], grant["remaining_uses"]) == ("timer", None)


class TestTheKeyEnds:
    async def test_home_assistant_asks_to_sign_in_again_and_goes_on(self, hass: HomeAssistant, house: House, until: Until) -> None:
        for key in (await house.person.ask("GET", "/v1/auth/keys"))["data"]:
            if key["type"] == "agent":
                await house.person.ask("DELETE", f"/v1/auth/keys/{key['id']}")
        flows = await until(lambda: hass.config_entries.flow.async_progress(), "a request to sign in again")
        assert [(flow["handler"], flow["context"]["source"], flow["step_id"]) for flow in flows] == [("portero", SOURCE_REAUTH, "auth")]
        shown = await answer(hass, flows[0], {"next_step_id": "key"})
        stranger = await Resident(house.person.session).move_in()
        other = await answer(hass, shown, {"api_key": await stranger.agent(SCOPES)})
        assert (other["type"], other["reason"]) == (FlowResultType.ABORT, "wrong_account")
        shown = await answer(hass, await house.entry.start_reauth_flow(hass), {"next_step_id": "key"})
        key = await house.person.agent(SCOPES)
        done = await answer(hass, shown, {"api_key": key})
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reauth_successful")
        await hass.async_block_till_done()
        assert (house.entry.state, house.entry.data["api_key"]) == (ConfigEntryState.LOADED, key)
        await until(lambda: house.entry.runtime_data.streaming, "the stream with the new key")
        await house.person.visit()
        await until(lambda: "ring" in house.kinds, "a ring")

    async def test_a_key_that_ended_before_the_start_is_asked_for_at_the_start(self, hass: HomeAssistant, house: House) -> None:
        assert await hass.config_entries.async_unload(house.entry.entry_id)
        for key in (await house.person.ask("GET", "/v1/auth/keys"))["data"]:
            if key["type"] == "agent":
                await house.person.ask("DELETE", f"/v1/auth/keys/{key['id']}")
        assert not await hass.config_entries.async_setup(house.entry.entry_id)
        assert house.entry.state is ConfigEntryState.SETUP_ERROR
        await hass.async_block_till_done()
        assert [flow["context"]["source"] for flow in hass.config_entries.flow.async_progress()] == [SOURCE_REAUTH]

    async def test_another_certificate_is_a_matter_of_reconfiguration(self, hass: HomeAssistant, house: House) -> None:
        shown = await house.entry.start_reconfigure_flow(hass)
        assert shown["step_id"] == "reconfigure"
        shown = await answer(hass, shown, {"url": URL, "fingerprint": "cd" * 32})
        assert shown["errors"] == {"base": "certificate"}
        done = await answer(hass, shown, PLACE)
        assert done["reason"] == "reconfigure_successful"
        await hass.async_block_till_done()
        assert house.entry.state is ConfigEntryState.LOADED


class TestAtTheDoor:
    async def test_unlocking_lets_in_one_visitor_and_locks_again(self, house: House, until: Until) -> None:
        assert house.lock == "locked"
        assert house.state("lock", "door").attributes["supported_features"] == LockEntityFeature.OPEN
        await house.act("unlock")
        assert (house.lock, house.state("lock", "door").attributes["changed_by"]) == ("unlocked", "Home Assistant")
        assert (await house.person.visit())["outcome"] == "released"
        await until(lambda: house.lock == "locked", "locked after the visitor")
        assert (await house.person.visit())["outcome"] == "forwarded"

    async def test_locking_revokes_its_own_timers_and_says_so_if_the_door_still_opens(self, house: House) -> None:
        await house.act("unlock")
        await house.act("lock")
        assert house.lock == "locked"
        party = await house.person.grant({"type": "timer", "label": "Party", "expires_in_minutes": 5})
        await house.act("unlock")
        with pytest.raises(HomeAssistantError, match="^The door still opens by itself: Party$"):
            await house.act("lock")
        assert house.lock == "unlocked"
        assert [grant["id"] for grant in (await house.person.ask("GET", "/v1/unlock?status=active"))["data"]] == [party["id"]]

    async def test_opening_needs_somebody_at_the_door(self, house: House) -> None:
        with pytest.raises(HomeAssistantError, match="^Nobody is at the door"):
            await house.act("open")

    async def test_unlocking_opens_in_a_call_that_rings_the_residents_phone(self, house: House, until: Until) -> None:
        path = f"/v1/buildings/{house.person.building}/settings"
        version = (await house.person.ask("GET", path))["version"]
        await house.person.ask("PATCH", path, {"ring": {"numbers": [os.environ["PORTERO_TEST_PHONE"]], "accept": False}}, If_Match=version)

        async def call() -> Any:
            async with house.person.session.get(os.environ["PORTERO_TEST_CALLER"] + quote(house.person.number)) as answered:
                return json.loads(await answered.text())
        visitor = asyncio.create_task(call())
        await until(lambda: {"ring", "forwarded"} <= set(house.kinds), "the ring")
        await house.act("unlock")
        told = await visitor
        assert told["tones"] == "9" and "canceled" in told["phone"]
        await until(lambda: {"opened", "ended"} <= set(house.kinds), "the end of the call")
        assert house.lock == "locked"
        assert (await house.person.ask("GET", "/v1/unlock"))["data"] == [], "the call was opened; no timer was made"
        with pytest.raises(HomeAssistantError, match="^Nobody is at the door"):
            await house.act("open")

    async def test_the_doorbell_rings_from_the_stream_and_tells_how_it_ends_without_a_code(self, house: House, until: Until) -> None:
        assert house.state("event", "visitor").attributes["device_class"] == "doorbell"
        await house.person.grant({"type": "passcode", "label": "Cleaner", "access_code": "1357"})
        await house.person.visit(digits="2468")
        await house.person.visit(digits="1357")
        await until(lambda: house.kinds.count("ended") == 2, "two ends")
        assert house.kinds[0] == "ring"
        assert {"ring", "wrong_code", "forwarded", "released", "ended"} <= set(house.kinds)
        released = next(more for kind, more in house.events if kind == "released")
        assert (released["reason"], released["label"]) == ("passcode", "Cleaner")
        told = json.dumps([state.as_dict() for state in house.hass.states.async_all()], default=str) + json.dumps(house.events, default=str)
        assert "1357" not in told and "2468" not in told

    async def test_an_automation_hears_the_ring(self, hass: HomeAssistant, house: House, until: Until) -> None:
        bell = house.entity_id("event", "visitor")
        assert await async_setup_component(hass, "automation", {"automation": {
            "triggers": {"trigger": "state", "entity_id": bell}, "conditions": "{{ trigger.to_state.attributes.event_type == 'ring' }}",
            "actions": {"event": "someone_rings"}}})
        heard: list[Any] = []
        hass.bus.async_listen("someone_rings", heard.append)
        await house.person.visit()
        await until(lambda: heard, "the automation")

    async def test_sensors_follow_what_happens(self, house: House, until: Until) -> None:
        def figures() -> list[str]:
            return [house.state(*one).state for one in (("sensor", "last_visit"), ("sensor", "active_grants"), ("sensor", "next_routine"), ("binary_sensor", "set_up"))]
        assert figures() == ["unknown", "0", "unknown", "off"]
        assert house.person.number in house.state("binary_sensor", "set_up").attributes["instructions"]
        decision = await house.person.ask("GET", f"/v1/buildings/{house.person.building}/decision")
        day = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        other = day[(date.fromisoformat(decision["at"][:10]).weekday() + 3) % 7]
        await house.person.grant({"type": "routine", "label": "Cleaning", "days": [other], "start": "09:00", "end": "11:00", "timezone": "UTC"})
        await house.person.grant({"type": "passcode", "label": "Guest", "access_code": "1357"})
        await house.person.visit(digits="1357")
        await until(lambda: figures()[1::2] == ["2", "on"] and figures()[0] != "unknown", "the figures")
        assert house.state("sensor", "last_visit").attributes["name"] == "Guest"
        assert "T09:00:00" in house.state("sensor", "next_routine").state
        assert house.state("sensor", "next_routine").attributes["label"] == "Cleaning"
        assert house.state("sensor", "active_grants").attributes["unit_of_measurement"] == "grants"

    async def test_a_passcode_is_made_and_returned(self, house: House) -> None:
        told = await house.act("create_passcode", "portero", {"label": "Parcel", "uses": 1, "minutes": 60}, response=True)
        made = told[house.entity_id("lock", "door")]
        assert (made["label"], made["remaining_uses"], len(made["access_code"])) == ("Parcel", 1, 4)
        assert (await house.person.visit(digits=made["access_code"]))["outcome"] == "released"
        for wrong in ({"code": "1"}, {"code": "12345"}, {"uses": 0}, {"minutes": 10081}, {"days": ["monday"]}):
            with pytest.raises(vol.Invalid):
                await house.act("create_passcode", "portero", wrong)

    async def test_a_pass_is_made_and_shown(self, house: House, until: Until) -> None:
        told = await house.act("create_pass", "portero", {"label": "Cleaner", "days": ["tuesday", "friday"], "start": "09:00:00", "end": "12:00:00", "code": "751004"}, response=True)
        made = told[house.entity_id("lock", "door")]
        assert (made["label"], made["access_code"], made["status"]) == ("Cleaner", "751004", "active")
        await until(lambda: house.state("sensor", "next_pass").attributes["passes"], "the pass")
        assert house.state("sensor", "next_pass").attributes["passes"][0]["label"] == "Cleaner"
        for wrong in ({"code": "123"}, {"days": ["someday"]}, {"start": "25:00"}, {"from": "soon"}):
            with pytest.raises(vol.Invalid):
                await house.act("create_pass", "portero", wrong)

    async def test_entities_have_names_and_one_device(self, hass: HomeAssistant, house: House) -> None:
        entities = er.async_entries_for_config_entry(er.async_get(hass), house.entry.entry_id)
        names = {entity.entity_id: hass.states.get(entity.entity_id).attributes["friendly_name"] for entity in entities}  # type: ignore[union-attr]
        assert names == {"lock.home": "Home", "event.home_visitor": "Home Visitor", "sensor.home_last_visit": "Home Last visit",
                         "sensor.home_active_grants": "Home Active grants", "sensor.home_next_routine": "Home Next routine", "sensor.home_next_pass": "Home Next pass", "binary_sensor.home_set_up": "Home Set up"}
        devices = dr.async_entries_for_config_entry(dr.async_get(hass), house.entry.entry_id)
        assert [(device.name, device.entry_type, device.configuration_url) for device in devices] == [("Home", dr.DeviceEntryType.SERVICE, URL)]


class TestTheEntry:
    async def test_diagnostics_as_they_are_downloaded_tell_no_secret(self, hass: HomeAssistant, house: House, hass_client: ClientSessionGenerator) -> None:
        await house.person.grant({"type": "passcode", "label": "Aunt Petunia", "access_code": "4711"})
        await house.entry.runtime_data.async_refresh()
        told = await get_diagnostics_for_config_entry(hass, hass_client, house.entry)
        assert told["grants"]["data"][0]["type"] == "passcode"  # type: ignore[index, call-overload]
        text = json.dumps(told)
        for secret in ("4711", "Petunia", house.entry.data["api_key"], house.entry.data["fingerprint"], house.person.number, house.person.email, URL):
            assert secret not in text

    async def test_it_is_unloaded_and_loaded_again_and_rings(self, hass: HomeAssistant, house: House, until: Until) -> None:
        assert await hass.config_entries.async_unload(house.entry.entry_id)
        assert house.entry.state is ConfigEntryState.NOT_LOADED
        assert house.lock == "unavailable"
        assert await hass.config_entries.async_setup(house.entry.entry_id)
        assert await hass.config_entries.async_reload(house.entry.entry_id)
        await until(lambda: house.entry.runtime_data.streaming and house.lock == "locked", "the stream again")
        await house.person.visit()
        await until(lambda: house.kinds.count("ended") == 1, "the visit")
        assert house.kinds.count("ring") == 1, "one stream is read"

    async def test_it_is_removed_with_its_device_and_entities(self, hass: HomeAssistant, house: House, hass_ws_client: WebSocketGenerator) -> None:
        assert await async_setup_component(hass, "config", {})
        client = await hass_ws_client(hass)
        device = dr.async_entries_for_config_entry(dr.async_get(hass), house.entry.entry_id)[0]
        assert not (await client.remove_device(device.id, house.entry.entry_id))["success"], "the device is the building"
        await hass.config_entries.async_remove(house.entry.entry_id)
        await hass.async_block_till_done()
        assert not hass.config_entries.async_entries("portero")
        assert not er.async_entries_for_config_entry(er.async_get(hass), house.entry.entry_id)
        assert not dr.async_entries_for_config_entry(dr.async_get(hass), house.entry.entry_id)
        assert not [state for state in hass.states.async_all() if state.entity_id.startswith(("lock.home", "event.home", "sensor.home"))]

    async def test_the_service_goes_away_and_comes_back(self, hass: HomeAssistant, connect: Connect, relay: Relay, until: Until) -> None:
        house = await connect(f"https://localhost:{relay.port}")
        await relay.close()
        await until(lambda: not house.entry.runtime_data.streaming, "the end of the stream")
        await house.entry.runtime_data.async_refresh()
        assert {house.lock, house.state("sensor", "active_grants").state} == {"unavailable"}
        await house.act("unlock")  # Home Assistant asks nothing of an entity that is not available
        await house.person.visit()  # nobody hears it
        await house.person.grant({"type": "timer", "expires_in_minutes": 5})
        await relay.open()
        await until(lambda: house.lock == "unlocked", "what happened meanwhile")
        await until(lambda: house.entry.runtime_data.streaming, "the stream")
        await house.person.visit()
        await until(lambda: "released" in house.kinds, "a visitor")
        assert not hass.config_entries.flow.async_progress(), "nobody is asked to sign in"

    async def test_a_start_without_the_service_is_tried_again(self, hass: HomeAssistant, connect: Connect, relay: Relay, until: Until) -> None:
        house = await connect(f"https://localhost:{relay.port}")
        assert await hass.config_entries.async_unload(house.entry.entry_id)
        await relay.close()
        assert not await hass.config_entries.async_setup(house.entry.entry_id)
        assert house.entry.state is ConfigEntryState.SETUP_RETRY
        await relay.open()
        await until(lambda: house.entry.state is ConfigEntryState.LOADED, "the next try")
        await until(lambda: house.lock == "locked", "the lock")
