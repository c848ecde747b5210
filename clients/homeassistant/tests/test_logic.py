"""The parts that know nothing of Home Assistant, and the files that describe the integration to it."""
from __future__ import annotations

import asyncio
from datetime import datetime, time
import json
from pathlib import Path
import re
import subprocess
import sys
import unittest
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
INTEGRATION = ROOT / "custom_components/portero"
LANGUAGES = ("en", "es", "fr")
PURE = ("api", "model", "const")

sys.path.insert(0, str(ROOT))


def load(name: str) -> Any:
    return json.loads((INTEGRATION / name).read_text(encoding="utf-8"))


def leaves(node: Any, path: str = "") -> dict[str, str]:
    if not isinstance(node, dict):
        return {path: node}
    return {key: value for name, child in node.items() for key, value in leaves(child, f"{path}.{name}" if path else name).items()}


class Files(unittest.TestCase):
    def test_every_module_compiles(self) -> None:
        modules = sorted(INTEGRATION.glob("*.py"))
        self.assertGreater(len(modules), 10)
        for module in modules:
            compile(module.read_text(encoding="utf-8"), str(module), "exec")

    def test_the_rules_need_no_home_assistant(self) -> None:
        for name in PURE:
            text = (INTEGRATION / f"{name}.py").read_text(encoding="utf-8")
            self.assertIsNone(re.search(r"^\s*(from|import) homeassistant", text, re.M), name)

    def test_the_manifest(self) -> None:
        """As script/hassfest/manifest.py of Home Assistant demands of custom integrations."""
        manifest = load("manifest.json")
        self.assertEqual(manifest["domain"], INTEGRATION.name)
        for key in ("name", "codeowners", "documentation", "integration_type", "iot_class", "requirements", "version"):
            self.assertIn(key, manifest)
        self.assertEqual(list(manifest), ["domain", "name", *sorted(key for key in manifest if key not in ("domain", "name"))])
        self.assertIn(manifest["iot_class"], ("assumed_state", "calculated", "cloud_polling", "cloud_push", "local_polling", "local_push"))
        self.assertRegex(manifest["documentation"], "^https://")
        self.assertRegex(manifest["version"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(manifest["config_flow"] and (INTEGRATION / "config_flow.py").exists())
        hacs = json.loads((ROOT / "hacs.json").read_text(encoding="utf-8"))
        self.assertEqual((hacs["name"], (ROOT / "README.md").exists()), (manifest["name"], True))

    def test_all_languages_have_the_same_texts(self) -> None:
        """As script/hassfest/translations.py demands: the same keys and placeholders, no HTML, no address, no spaces at the ends."""
        english = leaves(load("strings.json"))
        self.assertEqual(english, leaves(load("translations/en.json")))
        for language in LANGUAGES:
            texts = leaves(load(f"translations/{language}.json"))
            self.assertEqual(set(texts), set(english), language)
            for key, text in texts.items():
                self.assertEqual(sorted(re.findall(r"\{\w+\}", text)), sorted(re.findall(r"\{\w+\}", english[key])), f"{language} {key}")
                self.assertEqual(text, text.strip())
                self.assertNotRegex(text, r"<[a-z]|://|www\.|'\{")
                self.assertTrue(text)
        for part in english:
            for name in part.split("."):
                self.assertRegex(name, r"^[a-z0-9_]+$")

    def test_texts_and_code_name_the_same_things(self) -> None:
        strings = load("strings.json")
        code = "\n".join(module.read_text(encoding="utf-8") for module in INTEGRATION.glob("*.py"))
        flow = (INTEGRATION / "config_flow.py").read_text(encoding="utf-8")
        steps = set(re.findall(r'step_id="(\w+)"', flow)) - {"init"}
        self.assertEqual(steps, set(strings["config"]["step"]))
        self.assertEqual(set(strings["options"]["step"]), {"init"})
        errors = set(re.findall(r'"(invalid_\w+|too_many_codes|key_limit|missing_scopes|refused|certificate|cannot_connect)"', flow))
        self.assertEqual(errors, set(strings["config"]["error"]))
        self.assertEqual(set(re.findall(r'reason="(\w+)"', flow)) | {"already_configured", "reauth_successful", "reconfigure_successful"}, set(strings["config"]["abort"]))
        self.assertEqual(set(re.findall(r'translation_key="(\w+)"', code)), set(strings["exceptions"]))
        for platform, names in strings["entity"].items():
            for name in names:
                self.assertIn(f'"{name}"', (INTEGRATION / f"{platform}.py").read_text(encoding="utf-8"))
        from custom_components.portero.model import VISITOR_EVENTS
        self.assertEqual(set(VISITOR_EVENTS.values()), set(strings["entity"]["event"]["visitor"]["state_attributes"]["event_type"]["state"]))

    def test_services_are_described(self) -> None:
        services = yaml.safe_load((INTEGRATION / "services.yaml").read_text(encoding="utf-8"))
        strings = load("strings.json")["services"]
        self.assertEqual(set(services), set(strings))
        self.assertEqual(set(services), set(load("icons.json")["services"]))
        for name, service in services.items():
            self.assertEqual(set(service["fields"]), set(strings[name]["fields"]))
        chosen = services["create_pass"]["fields"]["days"]["selector"]["select"]
        self.assertEqual(set(chosen["options"]), set(load("strings.json")["selector"][chosen["translation_key"]]["options"]))


def decision(verdict: str = "forward", grants: Any = (), at: str = "2026-11-20T12:00:00.000Z") -> dict[str, Any]:
    return {"verdict": verdict, "grant_label": "Party" if verdict == "release" else None, "grants": list(grants), "at": at}


class Rules(unittest.TestCase):
    def state(self, **given: Any) -> Any:
        from custom_components.portero.model import State
        page = {"data": given.pop("grants", []), "pagination": {"cursor": None, "has_more": False}}
        return State(**{"decision": decision(), "setup": {"status": "building_setup_required"}, "grants": page, "passes": {"data": given.pop("passes", [])}, "last_visit": None, **given})

    def test_the_door_is_unlocked_while_a_call_opens_it_without_a_code(self) -> None:
        for verdict, locked in (("release", False), ("ask_code", True), ("forward", True), ("reject", True), ("wrong_code", True), ("self_call", True)):
            state = self.state(decision=decision(verdict))
            self.assertEqual((state.is_locked, state.opened_by), (locked, None if locked else "Party"))

    def test_the_next_routine_is_the_earliest_that_waits_for_its_window(self) -> None:
        def grant(kind: str, result: str, at: Any, label: str) -> dict[str, Any]:
            return {"type": kind, "result": result, "next_at": at, "label": label}
        grants = [grant("routine", "outside_window", "2026-11-22T09:00:00.000Z", "later"), grant("routine", "outside_window", "2026-11-21T09:00:00.000Z", "next"),
                  grant("routine", "switched_off", None, "off"), grant("timer", "not_begun", "2026-11-20T13:00:00.000Z", "timer")]
        when, label = self.state(decision=decision(grants=grants)).next_routine
        self.assertEqual((when.isoformat(), label), ("2026-11-21T09:00:00+00:00", "next"))

    def test_a_pass_is_open_outside_its_hours_or_as_its_status_says(self) -> None:
        def one(label: str, status: str, opening: Any) -> dict[str, Any]:
            return {"label": label, "status": status, "access_code": "751004", "pass": {"next_opening": opening, "note": "key under the mat"}}
        tuesday, july = "2026-11-24T14:00:00.000Z", "2027-07-01T00:00:00.000Z"
        passes = [one("nurse", "active", "2026-11-20T11:59:59.900Z"), one("cleaner", "active", tuesday), one("sister", "scheduled", july),
                  one("never", "active", None), one("off", "inactive", None), one("guest", "expired", None)]
        state = self.state(passes=passes)
        self.assertEqual([(entry["label"], entry["status"], entry["next_opening"]) for entry in state.pass_list],
                         [("nurse", "open", None), ("cleaner", "outside_hours", tuesday), ("sister", "scheduled", july), ("never", "outside_hours", None),
                          ("off", "inactive", None), ("guest", "expired", None)])
        self.assertEqual((state.next_pass[0].isoformat(), state.next_pass[1]), ("2026-11-24T14:00:00+00:00", "cleaner"))
        self.assertNotRegex(json.dumps(state.pass_list), "751004|mat")
        self.assertIsNone(self.state().next_pass)

    def test_the_fields_of_an_action_make_a_pass(self) -> None:
        from custom_components.portero.model import DAYS, pass_body
        zone = "America/New_York"
        given = {"label": "Cleaner", "code": "751004", "days": ["tuesday", "friday"], "start": time(9), "end": time(12), "uses": 3, "note": "x"}
        self.assertEqual(pass_body(given, zone), {"timezone": zone, "label": "Cleaner", "access_code": "751004", "remaining_uses": 3, "note": "x",
                                                  "windows": [{"days": ["tuesday", "friday"], "start": "09:00", "end": "12:00"}]})
        self.assertEqual(pass_body({"from": datetime(2027, 8, 1), "until": datetime(2027, 9, 1)}, zone),
                         {"timezone": zone, "from": "2027-08-01T00:00:00", "until": "2027-09-01T00:00:00"})
        self.assertEqual(pass_body({"days": ["monday"]}, zone)["windows"], [{"days": ["monday"], "start": "00:00", "end": "00:00"}])
        self.assertEqual(pass_body({"start": time(22), "end": time(6)}, zone)["windows"], [{"days": list(DAYS), "start": "22:00", "end": "06:00"}])
        self.assertEqual(pass_body({}, zone), {"timezone": zone})

    def test_it_is_read_again_when_the_next_grant_begins_and_often_while_the_door_opens(self) -> None:
        from custom_components.portero.model import poll_after
        soon = {"type": "timer", "result": "not_begun", "next_at": "2026-11-20T12:00:40.000Z", "label": ""}
        self.assertEqual(poll_after(self.state(), True), 300)
        self.assertEqual(poll_after(self.state(), False), 60)
        self.assertEqual(poll_after(self.state(decision=decision("release")), True), 30)
        self.assertEqual(poll_after(self.state(decision=decision(grants=[soon])), True), 41)
        self.assertEqual(poll_after(self.state(decision=decision(grants=[soon], at="2026-11-20T12:00:40.000Z")), True), 5)

    def test_own_timers_are_those_that_it_made(self) -> None:
        grants = [{"id": "1", "type": "timer", "request_id": "home-assistant-1"}, {"id": "2", "type": "timer", "request_id": "other"}, {"id": "3", "type": "timer"},
                  {"id": "4", "type": "passcode", "request_id": "home-assistant-2"}]
        self.assertEqual([grant["id"] for grant in self.state(grants=grants).own_timers], ["1"])

    def test_the_newest_call_with_the_resident_may_be_opened_until_it_ends(self) -> None:
        from custom_components.portero.model import Calls
        calls = Calls()
        self.assertIsNone(calls.openable)
        for kind, call, openable in (("call.ring", "a", None), ("call.forwarded", "a", "a"), ("call.ringing", "b", "b"), ("call.ended", "b", "a"),
                                     ("call.unanswered", "a", None), ("call.answered", "c", "c"), ("reset", None, None)):
            calls.take({"type": kind, "call_id": call} if call else {"type": kind})
            self.assertEqual(calls.openable, openable, kind)
        for number in range(1000):
            calls.take({"type": "call.ringing", "call_id": str(number)})
        self.assertEqual((len(calls.with_resident), calls.openable), (32, "999"))

    def test_addresses_and_fingerprints(self) -> None:
        from custom_components.portero.api import normal_fingerprint, normal_url
        self.assertEqual(normal_url(" https://door.example:8443/portero/ "), "https://door.example:8443/portero")
        for wrong in ("http://door.example", "door.example", "https://", "https://u:p@door.example", "https://door.example/?a", "https://door.example:99999"):
            with self.assertRaises(ValueError):
                normal_url(wrong)
        self.assertEqual(normal_fingerprint("AB:" * 31 + "cd"), "ab" * 31 + "cd")
        self.assertEqual(normal_fingerprint(" "), "")
        for wrong in ("ab", "g" * 64):
            with self.assertRaises(ValueError):
                normal_fingerprint(wrong)

    def test_old_events_are_told_from_fresh_ones_by_the_services_clock(self) -> None:
        from custom_components.portero.api import is_stale
        at = {"at": "2026-11-20T12:00:00.000Z"}
        self.assertEqual([is_stale(at, 1795176000 + late) for late in (0, 29, 31)], [False, False, True])
        self.assertFalse(is_stale({"type": "reset"}, 1795176000))


class Streams(unittest.IsolatedAsyncioTestCase):
    async def test_events_are_read_however_their_bytes_are_cut(self) -> None:
        from custom_components.portero.api import read_events
        text = 'retry: 2000\nid: 4\n\n: quiet\n\nid: 5\nevent: x\ndata: {"seq":5,\ndata: "type":"call.ring","label":"Ada é"}\n\n'.encode()
        reader = asyncio.StreamReader()
        for byte in text:
            reader.feed_data(bytes([byte]))
        reader.feed_eof()
        events = [event async for event in read_events(reader)]  # type: ignore[arg-type]
        self.assertEqual(events, [{"seq": 4, "type": "begin"}, {"seq": 4, "type": "begin"}, {"seq": 5, "type": "call.ring", "label": "Ada é"}])


class Alone(unittest.TestCase):
    def test_the_rules_are_loaded_without_home_assistant(self) -> None:
        program = ("import importlib.util, sys, types\n"
                   "package = types.ModuleType('portero'); package.__path__ = [sys.argv[1]]; sys.modules['portero'] = package\n"
                   "import portero.api, portero.model, portero.const\n"
                   "assert not any(name.startswith('homeassistant') for name in sys.modules)\n")
        done = subprocess.run([sys.executable, "-I", "-B", "-c", program, str(INTEGRATION)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
