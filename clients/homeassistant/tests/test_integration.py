"""The integration in the imitation of Home Assistant's interfaces (fake), against a running sandbox."""
from __future__ import annotations

import asyncio
from datetime import date, timedelta
import json
import sys
import unittest
from unittest import mock
from typing import Any, Callable

import aiohttp
import voluptuous as vol

from homeassistant.config_entries import FlowRunner
from homeassistant.const import CONF_API_KEY, CONF_EMAIL, CONF_URL
from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady, HomeAssistantError
from sandbox import FINGERPRINT, URL, Resident

from custom_components.portero.api import SCOPES, PorteroApi, PorteroApiError
from custom_components.portero.config_flow import PorteroConfigFlow, PorteroOptionsFlow
from custom_components.portero.const import CONF_BUILDING, CONF_CODE, CONF_FINGERPRINT
from custom_components.portero.diagnostics import async_get_config_entry_diagnostics
from custom_components.portero.model import DAYS

PLACE = {CONF_URL: URL + "/", CONF_FINGERPRINT: FINGERPRINT}


class InHomeAssistant(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.session = aiohttp.ClientSession()
        self.addAsyncCleanup(self.session.close)
        self.hass = HomeAssistant(self.session)
        self.person = await Resident(self.session).move_in()

    def flow(self, source: str = "user", **context: Any) -> FlowRunner:
        return FlowRunner(self.hass, PorteroConfigFlow(), {"source": source, **context})

    async def connected(self) -> Any:
        """The entry, set up with a key; unloaded after the test."""
        flow = self.flow()
        await flow.start()
        await flow.answer(PLACE)
        await flow.answer("key")
        made = await flow.answer({CONF_API_KEY: await self.person.agent(SCOPES)})
        self.assertEqual(made["type"], "create_entry", made)
        entry = made["result"]
        self.assertTrue(await self.hass.config_entries.async_setup(entry))
        self.addAsyncCleanup(self.hass.config_entries.async_unload, entry)
        return entry

    def entity(self, platform: str, key: str) -> Any:
        return next(one for one in self.hass.entities[platform] if one.unique_id == f"{self.person.building}_{key}")

    async def until(self, condition: Callable[[], Any], what: str) -> None:
        for _ in range(3000):
            if condition():
                return
            await asyncio.sleep(0.02)
        self.fail(f"never happened: {what}")

    async def streaming(self, entry: Any) -> None:
        await self.until(lambda: entry.runtime_data.streaming, "the stream")


class Connecting(InHomeAssistant):
    async def test_with_a_code_by_e_mail_and_a_key_of_its_own(self) -> None:
        flow = self.flow()
        self.assertEqual((await flow.start())["step_id"], "user")
        self.assertEqual((await flow.answer(PLACE))["menu_options"], ["key", "email"])
        self.assertEqual((await flow.answer("email"))["step_id"], "email")
        self.assertEqual((await flow.answer({CONF_EMAIL: "no address"}))["errors"], {"base": "invalid_email"})
        shown = await flow.answer({CONF_EMAIL: self.person.email})
        self.assertEqual((shown["step_id"], shown["description_placeholders"]), ("code", {"email": self.person.email}))
        code = await self.person.code()
        wrong = f"{(int(code) + 1) % 1000000:06}"
        self.assertEqual((await flow.answer({CONF_CODE: wrong}))["errors"], {"base": "invalid_code"})
        made = await flow.answer({CONF_CODE: code})
        self.assertEqual((made["type"], made["title"], made["result"].unique_id), ("create_entry", "Home", self.person.building))
        self.assertEqual(made["data"][CONF_URL], URL)
        keys = (await self.person.ask("GET", "/v1/auth/keys"))["data"]
        self.assertEqual([(key["name"], key["scopes"]) for key in keys if key["type"] == "agent"], [("Home Assistant", SCOPES)])
        self.assertEqual(len([key for key in keys if key["type"] == "web_session"]), 1, "the session that made the key goes on")

    async def test_with_a_key_whose_scopes_suffice_and_once_only(self) -> None:
        flow = self.flow()
        await flow.start()
        await flow.answer(PLACE)
        await flow.answer("key")
        self.assertEqual((await flow.answer({CONF_API_KEY: "svc_agent_nonsense"}))["errors"], {"base": "invalid_auth"})
        few = await self.person.agent(["account:read"])
        self.assertEqual((await flow.answer({CONF_API_KEY: few}))["errors"], {"base": "missing_scopes"})
        await self.connected()
        again = await flow.answer({CONF_API_KEY: await self.person.agent(SCOPES)})
        self.assertEqual((again["type"], again["reason"]), ("abort", "already_configured"))

    async def test_to_an_address_that_is_not_the_services_or_not_trusted(self) -> None:
        flow = self.flow()
        await flow.start()
        cases = (({CONF_URL: URL.replace("https", "http")}, {CONF_URL: "invalid_url"}), ({CONF_URL: URL, CONF_FINGERPRINT: "ab"}, {CONF_FINGERPRINT: "invalid_fingerprint"}),
                 ({CONF_URL: URL}, {"base": "certificate"}), ({CONF_URL: URL, CONF_FINGERPRINT: "ab" * 32}, {"base": "certificate"}),
                 ({CONF_URL: "https://localhost:9"}, {"base": "cannot_connect"}), ({CONF_URL: URL + "/sandbox", CONF_FINGERPRINT: FINGERPRINT}, {"base": "refused"}))
        for given, errors in cases:
            self.assertEqual((await flow.answer(given))["errors"], errors, given)

    async def test_of_one_building_among_several(self) -> None:
        flow = self.flow()
        await flow.start()
        await flow.answer(PLACE)
        await flow.answer("key")
        buildings = [{"id": "a" * 24, "label": "Cabin"}, {"id": self.person.building, "label": "Home"}]

        async def several(_: PorteroApi) -> list[dict[str, Any]]:
            return buildings
        real, PorteroApi.buildings = PorteroApi.buildings, several  # type: ignore[method-assign]
        self.addCleanup(setattr, PorteroApi, "buildings", real)
        self.assertEqual((await flow.answer({CONF_API_KEY: await self.person.agent(SCOPES)}))["step_id"], "building")
        with self.assertRaises(vol.Invalid):
            await flow.answer({CONF_BUILDING: "b" * 24})
        made = await flow.answer({CONF_BUILDING: "a" * 24})
        self.assertEqual((made["title"], made["data"][CONF_BUILDING]), ("Cabin", "a" * 24))

    async def test_again_when_the_key_has_ended(self) -> None:
        entry = await self.connected()
        await self.streaming(entry)
        keys = (await self.person.ask("GET", "/v1/auth/keys"))["data"]
        for key in keys:
            if key["type"] == "agent":
                await self.person.ask("DELETE", f"/v1/auth/keys/{key['id']}")
        await self.until(lambda: entry.reauth_started > 0, "a request to sign in again")
        flow = self.flow("reauth", entry=entry)
        self.assertEqual((await flow.start(entry.data))["type"], "menu")
        await flow.answer("key")
        stranger = await Resident(self.session).move_in()
        other = await flow.answer({CONF_API_KEY: await stranger.agent(SCOPES)})
        self.assertEqual(other["reason"], "wrong_account")
        flow = self.flow("reauth", entry=entry)
        await flow.start(entry.data)
        await flow.answer("key")
        key = await self.person.agent(SCOPES)
        self.assertEqual((await flow.answer({CONF_API_KEY: key}))["reason"], "reauth_successful")
        self.assertEqual((entry.data[CONF_API_KEY], entry.data[CONF_URL]), (key, URL))

    async def test_with_another_certificate_of_the_same_service(self) -> None:
        entry = await self.connected()
        flow = self.flow("reconfigure", entry=entry)
        self.assertEqual((await flow.start())["step_id"], "reconfigure")
        self.assertEqual((await flow.answer({CONF_URL: URL, CONF_FINGERPRINT: "cd" * 32}))["errors"], {"base": "certificate"})
        self.assertEqual((await flow.answer(PLACE))["reason"], "reconfigure_successful")

    async def test_not_with_a_key_that_ended_before_the_start(self) -> None:
        entry = await self.connected()
        await self.hass.config_entries.async_unload(entry)
        self.hass.config_entries.entries.append(entry)  # for the clean-up
        await PorteroApi(self.session, URL, entry.data[CONF_API_KEY], entry.data[CONF_FINGERPRINT]).request("DELETE", "/v1/auth/key")
        module = sys.modules["custom_components.portero"]
        with self.assertRaises(ConfigEntryAuthFailed):
            await module.async_setup_entry(self.hass, entry)
        entry.data[CONF_URL] = "https://localhost:9"
        with self.assertRaises(ConfigEntryNotReady):
            await module.async_setup_entry(self.hass, entry)


class AtTheDoor(InHomeAssistant):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.entry = await self.connected()
        await self.streaming(self.entry)
        self.lock = self.entity("lock", "door")

    async def test_unlocking_lets_in_one_visitor_and_locks_again(self) -> None:
        self.assertTrue(self.lock.is_locked)
        await self.lock.async_unlock()
        self.assertFalse(self.lock.is_locked)
        self.assertEqual(self.lock.changed_by, "Home Assistant")
        self.assertEqual((await self.person.visit())["outcome"], "released")
        await self.until(lambda: self.lock.is_locked, "locked after the visitor")
        self.assertEqual((await self.person.visit())["outcome"], "forwarded")

    async def test_locking_revokes_its_own_timers_and_says_so_if_the_door_still_opens(self) -> None:
        await self.lock.async_unlock()
        await self.lock.async_lock()
        self.assertTrue(self.lock.is_locked)
        self.assertEqual((await self.person.visit())["outcome"], "forwarded")
        party = await self.person.grant({"type": "timer", "label": "Party", "expires_in_minutes": 5})
        await self.lock.async_unlock()
        with self.assertRaises(HomeAssistantError) as refused:
            await self.lock.async_lock()
        self.assertEqual((refused.exception.translation_key, refused.exception.translation_placeholders), ("still_open", {"label": "Party"}))
        self.assertFalse(self.lock.is_locked)
        active = (await self.person.ask("GET", "/v1/unlock?status=active"))["data"]
        self.assertEqual([grant["id"] for grant in active], [party["id"]])

    async def test_the_options_say_for_how_long_and_for_how_many(self) -> None:
        flow = FlowRunner(self.hass, PorteroOptionsFlow(), {"source": "user", "step": "init"})
        flow.flow.config_entry = self.entry
        self.assertEqual((await flow.start())["step_id"], "init")
        await flow.answer({"unlock_minutes": 90, "single_use": False})
        await self.lock.async_unlock()
        grant = (await self.person.ask("GET", "/v1/unlock?status=active"))["data"][0]
        self.assertIsNone(grant["remaining_uses"])
        for _ in range(2):
            self.assertEqual((await self.person.visit())["outcome"], "released")
        await self.lock.async_lock()

    async def test_opening_needs_somebody_at_the_door(self) -> None:
        with self.assertRaises(HomeAssistantError) as refused:
            await self.lock.async_open()
        self.assertEqual(refused.exception.translation_key, "nobody_at_the_door")

    async def test_the_doorbell_rings_and_tells_how_it_ends_without_a_code(self) -> None:
        bell = self.entity("event", "visitor")
        await self.person.grant({"type": "passcode", "label": "Cleaner", "access_code": "1357"})
        await self.person.visit(digits="2468")
        await self.person.visit(digits="1357")
        await self.until(lambda: [kind for kind, _ in bell.triggered].count("ended") == 2, "two ends")
        kinds = [kind for kind, _ in bell.triggered]
        self.assertEqual(kinds[0], "ring")
        for kind in ("ring", "wrong_code", "forwarded", "released", "ended"):
            self.assertIn(kind, kinds)
        released = next(more for kind, more in bell.triggered if kind == "released")
        self.assertEqual((released["reason"], released["label"]), ("passcode", "Cleaner"))
        self.assertNotRegex(json.dumps(bell.triggered), "1357|2468")

    async def test_sensors_and_the_set_up(self) -> None:
        last, active, following, set_up = (self.entity("sensor", "last_visit"), self.entity("sensor", "active_grants"),
                                           self.entity("sensor", "next_routine"), self.entity("binary_sensor", "set_up"))
        self.assertEqual((last.native_value, active.native_value, following.native_value, set_up.is_on), (None, 0, None, False))
        self.assertIn(self.person.number, set_up.extra_state_attributes["instructions"])
        decision = await self.person.ask("GET", f"/v1/buildings/{self.person.building}/decision")
        day = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        other = day[(date.fromisoformat(decision["at"][:10]).weekday() + 3) % 7]
        await self.person.grant({"type": "routine", "label": "Cleaning", "days": [other], "start": "09:00", "end": "11:00", "timezone": "UTC"})
        await self.person.grant({"type": "passcode", "label": "Guest", "access_code": "1357"})
        await self.person.visit(digits="1357")
        await self.until(lambda: last.native_value is not None and active.native_value == 2 and set_up.is_on, "the figures")
        self.assertEqual(last.extra_state_attributes, {"type": "unlock", "name": "Guest", "succeeded": True})
        self.assertEqual((following.native_value.hour, following.extra_state_attributes), (9, {"label": "Cleaning"}))
        self.assertGreater(last.written, 0)

    async def test_a_timer_that_is_over_locks_though_no_event_tells(self) -> None:
        await self.person.grant({"type": "timer", "expires_in_minutes": 5})
        await self.until(lambda: not self.lock.is_locked, "unlocked")
        self.assertLessEqual(self.entry.runtime_data.update_interval.total_seconds(), 30)
        await self.person.advance(301)
        await self.entry.runtime_data.async_refresh()
        self.assertTrue(self.lock.is_locked)

    async def test_without_a_stream_the_data_are_read_regularly(self) -> None:
        coordinator = self.entry.runtime_data
        task = self.entry.tasks.pop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        async def refused(*_: Any) -> Any:
            raise PorteroApiError(404, {"error": {"code": "NOT_FOUND", "message": "not found"}}, None)
            yield  # a generator
        with mock.patch.object(coordinator.api, "events", refused), self.assertLogs("custom_components.portero", "WARNING"):
            await coordinator.async_follow()
        await coordinator.async_refresh()
        self.assertEqual((coordinator.streaming, coordinator.update_interval.total_seconds(), self.entry.reauth_started), (False, 60, 0))

    async def test_a_passcode_is_made_and_returned(self) -> None:
        schema, function, response = self.hass.services["create_passcode"]
        self.assertEqual(response, SupportsResponse.OPTIONAL)
        made = await getattr(self.lock, function)(**schema({"label": "Parcel", "uses": 1, "minutes": 60}))
        self.assertRegex(made["access_code"], "^[0-9]{4}$")
        self.assertEqual((made["label"], made["remaining_uses"]), ("Parcel", 1))
        self.assertEqual((await self.person.visit(digits=made["access_code"]))["outcome"], "released")
        for wrong in ({"code": "1"}, {"code": "12345"}, {"uses": 0}, {"minutes": 10081}, {"days": ["monday"]}):
            with self.assertRaises(vol.Invalid):
                schema(wrong)

    async def test_a_pass_is_made_and_shown_with_its_hours(self) -> None:
        schema, function, response = self.hass.services["create_pass"]
        self.assertEqual(response, SupportsResponse.OPTIONAL)
        cleaner = {"label": "Cleaner", "days": "tuesday", "start": "09:00:00", "end": "12:00:00", "code": "751004", "until": "2037-01-01 00:00:00"}
        with self.assertRaises(HomeAssistantError) as refused:  # more than 366 days ahead
            await getattr(self.lock, function)(**schema(cleaner))
        self.assertEqual(refused.exception.translation_key, "refused")
        decision = await self.person.ask("GET", f"/v1/buildings/{self.person.building}/decision")
        today = date.fromisoformat(decision["at"][:10])
        others = [DAYS[(today.weekday() + ahead) % 7] for ahead in (3, 4)]
        made = await getattr(self.lock, function)(**schema({**{name: cleaner[name] for name in ("label", "start", "end", "code")}, "days": others, "note": "under the mat"}))
        self.assertEqual((made["access_code"], made["label"], made["status"], made["until"]), ("751004", "Cleaner", "active", None))
        sister = await getattr(self.lock, function)(**schema({"label": "Sister", "from": f"{today + timedelta(days=30)} 00:00:00"}))
        self.assertEqual(sister["status"], "scheduled")
        await getattr(self.lock, function)(**schema({"label": "Nurse", "uses": 2}))
        following = self.entity("sensor", "next_pass")
        await self.until(lambda: len(following.extra_state_attributes["passes"]) == 3, "the passes")
        shown = following.extra_state_attributes
        self.assertEqual([(one["label"], one["status"], one["next_opening"]) for one in shown["passes"]],
                         [("Nurse", "open", None), ("Sister", "scheduled", sister["next_opening"]), ("Cleaner", "outside_hours", made["next_opening"])])
        self.assertEqual((following.native_value.isoformat()[:16], shown["label"], shown["more"]), (made["next_opening"][:16], "Cleaner", False))
        self.assertEqual(self.entity("sensor", "active_grants").native_value, 2, "the sister's begins later")
        self.assertNotEqual((await self.person.visit(digits="751004"))["outcome"], "released")
        self.assertNotRegex(json.dumps(shown), "751004|mat")
        for wrong in ({"code": "123"}, {"code": "123456789"}, {"days": "someday"}, {"days": []}, {"start": "25:00"}, {"from": "soon"}, {"uses": 0}, {"minutes": 5}):
            with self.assertRaises(vol.Invalid):
                schema(wrong)

    async def test_diagnostics_tell_no_secret(self) -> None:
        await self.person.ask("POST", "/v1/passes", {"label": "Uncle Vernon", "access_code": "751004", "note": "under the mat"}, Idempotency_Key="b" * 16)
        await self.person.grant({"type": "passcode", "label": "Aunt Petunia", "access_code": "4711"})
        await self.entry.runtime_data.async_refresh()
        text = json.dumps(await async_get_config_entry_diagnostics(self.hass, self.entry))
        self.assertIn("passcode", text)
        for secret in ("4711", "Petunia", "751004", "Vernon", "mat", self.entry.data[CONF_API_KEY], self.entry.data[CONF_FINGERPRINT], self.person.number, URL):
            self.assertNotIn(secret, text)

    async def test_the_stream_goes_on_after_an_interruption_and_old_rings_do_not_ring(self) -> None:
        bell = self.entity("event", "visitor")
        await self.person.visit()
        await self.until(lambda: [kind for kind, _ in bell.triggered].count("ended") == 1, "the first visit")
        before = len(bell.triggered)
        task = self.entry.tasks.pop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.assertFalse(self.entry.runtime_data.streaming)
        await self.person.visit()
        long_ago = mock.patch("custom_components.portero.api._STALE_S", -3600)  # everything is told as if it were old
        long_ago.start()
        self.addCleanup(long_ago.stop)
        made = await self.person.grant({"type": "timer", "expires_in_minutes": 5})
        refreshes = self.entry.runtime_data.refreshes
        self.entry.async_create_background_task(self.hass, self.entry.runtime_data.async_follow(), "again")
        await self.until(lambda: not self.lock.is_locked and self.entry.runtime_data.refreshes > refreshes, "the timer that was missed")
        self.assertEqual(self.entry.runtime_data.data.grants["data"][0]["id"], made["id"])
        stale = [kind for kind, _ in bell.triggered[before:]]
        self.assertEqual(stale, [], "a ring of long ago")


if __name__ == "__main__":
    unittest.main()
