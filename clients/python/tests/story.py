"""A resident's story against a sandbox: PORTERO_TEST_URL, PORTERO_TEST_CA. Prints what it came to as JSON. Run by the project's end-to-end
tests; the sandbox's own operations are asked for by hand, as they are no part of the client."""
import json
import os
import ssl
import threading
import urllib.request

from portero import ApiError, Portero, VersionConflict

URL, CA = os.environ["PORTERO_TEST_URL"], os.environ["PORTERO_TEST_CA"]
EMAIL = os.environ["PORTERO_TEST_EMAIL"]


def sandbox(path, body=None):
    request = urllib.request.Request(f"{URL}/sandbox{path}", data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=CA), timeout=60) as answer:
        return json.load(answer)


def sign_in():
    with Portero(URL, ca_file=CA) as anybody:
        challenge = anybody.request_otp({"email": EMAIL})["challenge"]
        code = sandbox(f"/messages?to={EMAIL}&channel=email&limit=1")["data"][0]["code"]
        return anybody.verify_otp({"email": EMAIL, "challenge": challenge, "otp": code, "purpose": "web"})["apiKey"]


def hire(session):
    scopes = ["account:read", "access:read", "access:write", "logs:read", "setup:write"]
    with Portero(URL, session, ca_file=CA) as owner:
        return owner.create_key({"name": "Client", "scopes": scopes, "expires_in_days": 1})["api_key"]


def refusal(call):
    try:
        call()
    except ApiError as error:
        return [type(error).__name__, error.status, error.code, (error.request_id or "").startswith("req_")]
    return None


def conflict(portero, grant_id):
    def edit(grant):
        portero.change_unlock(grant_id, lambda _: {"label": "faster"})
        return {"label": grant["label"] + ", slower"}
    try:
        portero.change_unlock(grant_id, edit)
    except VersionConflict:
        return portero.get_unlock(grant_id)["label"]
    return None


def cleaner(portero):
    """A pass, from its creation to its end: its hours are changed at its version, and only there."""
    mornings = {"days": ["tuesday", "friday"], "start": "09:00", "end": "12:00"}
    made = portero.create_pass({"label": "Cleaner", "access_code": "751004", "windows": [mornings], "timezone": "Europe/Madrid"})
    listed = [entry["id"] for entry in portero.iterate_passes(limit=1)] == [made["id"]]
    later = portero.change_pass(made["id"], lambda one: {"windows": [{**one["pass"]["windows"][0], "end": "13:00"}]})
    try:
        portero.update_pass(made["id"], {"label": "x"}, if_match=made["version"])
        conflict = False
    except VersionConflict:
        conflict = True
    return {"code": made["access_code"], "windows": made["pass"]["windows"] == [mornings], "opens": bool(made["pass"]["next_opening"]), "listed": listed,
            "end": later["pass"]["windows"][0]["end"], "conflict": conflict, "over": portero.revoke_pass(made["id"])["status"],
            "left": list(portero.iterate_passes())}


def told(portero, building):
    """The types of the events up to the end of a visitor's call, which another thread makes when the stream is open."""
    types = []
    with portero.events(building["id"], after=0) as events:
        for event in events:
            if event.type == "grant.created" and "call.ring" not in types:
                threading.Thread(target=sandbox, args=("/calls", {"to": building["virtual_number"], "from": "+15550001111", "digits": "1357"})).start()
            types.append(event.type)
            if event.type == "call.ended":
                return types
    return types


def main():
    key = hire(sign_in())
    sandbox("/subscriptions", {"email": EMAIL, "status": "active"})
    with Portero(URL, key, ca_file=CA) as portero:
        home = portero.list_buildings()["data"][0]
        tone = portero.change_settings(home["id"], lambda _: {"unlock_tone": "9"})["unlock_tone"]
        body = {"type": "passcode", "label": "Parcel", "access_code": "1357"}
        grant = portero.create_unlock(body, idempotency_key="client-python-00000001")
        same = portero.create_unlock(body, idempotency_key="client-python-00000001")["id"] == grant["id"]
        types = told(portero, home)
        result = {
            "tone": tone, "same": same, "types": types,
            "names": [entry["name"] for entry in portero.iterate_logs(limit=1, type="unlock")],
            "guide": portero.get_guide().startswith("#"), "label": conflict(portero, grant["id"]),
            "cleaner": cleaner(portero),
            "revoked": portero.revoke_unlock(grant["id"])["status"],
            "missing": refusal(lambda: portero.get_unlock("f" * 24)),
        }
        portero.revoke_own_key()
        result["over"] = refusal(portero.get_account)
    print(json.dumps(result))


main()
