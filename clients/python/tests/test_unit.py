"""The Python client alone, against a server that answers as a script says. PORTERO_TEST_TLS: a directory with tls.crt and tls.key of
localhost."""
import hashlib
import hmac
import json
import os
import ssl
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from portero import (ApiError, AuthenticationError, ConnectionFailed, NotFoundError, Portero, PorteroError, RateLimitError, ServiceError,
                     TimedOut, UnexpectedAnswer, VersionConflict, VersionRequired, WebhookVerificationError, verify_webhook)

ID = "0123456789abcdef01234567"
TLS = os.environ["PORTERO_TEST_TLS"]
CUT = object()


class Server(ThreadingHTTPServer):
    """Answers requests in turn: (status, body, headers) or CUT. Keeps what it was asked."""
    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{TLS}/tls.crt", f"{TLS}/tls.key")
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.answers, self.requests, self.connections = list(answers), [], set()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def handle_error(self, *_):
        pass

    @property
    def url(self):
        return f"https://localhost:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, self.headers, body))
        self.server.connections.add(self.client_address)
        answer = self.server.answers.pop(0)
        if answer is CUT:
            self.close_connection = True
            self.connection.close()
            return
        if callable(answer):
            answer(self)
            return
        status, content, headers = answer
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


def good(body, **headers):
    return 200, body, {name.replace("_", "-"): value for name, value in headers.items()}


def refusal(status, code, **headers):
    error = {"type": "x", "message": f"about {code}", "code": code, "retryable": status >= 429, "next_action": "do"}
    return status, {"error": error, "requestId": "req_1"}, {name.replace("_", "-"): value for name, value in headers.items()}


class Scripted(unittest.TestCase):
    def client(self, *answers, **options):
        self.server = Server(answers)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        client = Portero(self.server.url, "svc_agent_x", ca_file=f"{TLS}/tls.crt", **options)
        self.addCleanup(client.close)
        return client

    def sent(self, header):
        return [headers.get(header) for _, _, headers, _ in self.server.requests]


class Repetition(Scripted):
    def test_one_key_for_a_call_and_another_for_the_next(self):
        client = self.client(CUT, refusal(503, "SERVICE_UNAVAILABLE", Retry_After="0"), good({"id": ID}), good({"id": ID}))
        self.assertEqual(client.create_unlock({"type": "passcode"})["id"], ID)
        client.create_unlock({"type": "passcode"})
        keys = self.sent("Idempotency-Key")
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(keys[0], keys[2])
        self.assertNotEqual(keys[0], keys[3])
        for key in keys:
            self.assertRegex(key, "^[a-zA-Z0-9_-]{16,100}$")

    def test_no_repetition_of_what_may_have_been_carried_out_without_a_key(self):
        calls = (lambda c: c.update_unlock(ID, {"label": "x"}, if_match=0), lambda c: c.open_call(ID), lambda c: c.create_key({}))
        for answer, kind in ((CUT, ConnectionFailed), (refusal(503, "SERVICE_UNAVAILABLE", Retry_After="0"), ServiceError)):
            for call in calls:
                client = self.client(answer)
                with self.assertRaises(kind):
                    call(client)
                self.assertEqual(len(self.server.requests), 1)

    def test_429_is_repeated_after_the_time_that_it_names_and_not_otherwise(self):
        client = self.client(refusal(429, "RATE_LIMIT_EXCEEDED", Retry_After="0"), good({}))
        client.update_unlock(ID, {"label": "x"}, if_match=3)
        self.assertEqual(self.sent("If-Match"), ['"3"', '"3"'])
        for headers, seconds in (({"Retry_After": "61"}, 61), ({}, None)):
            client = self.client(refusal(429, "RATE_LIMIT_EXCEEDED", **headers))
            with self.assertRaises(RateLimitError) as refused:
                client.get_account()
            self.assertEqual(refused.exception.retry_after_s, seconds)
            self.assertEqual(len(self.server.requests), 1)

    def test_an_end_of_repetitions(self):
        client = self.client(CUT, CUT, retries=1)
        with self.assertRaises(ConnectionFailed):
            client.get_account()
        self.assertEqual(len(self.server.requests), 2)

    def test_a_service_that_does_not_answer(self):
        hang = threading.Event()
        self.addCleanup(hang.set)
        client = self.client(lambda handler: hang.wait(30), retries=0)
        with self.assertRaises(TimedOut):
            client.get_account(timeout_s=0.1)

    def test_connections_are_kept_and_a_closed_one_is_not_used_again(self):
        client = self.client(good({}), good({}), (200, {}, {"Connection": "close"}), good({}))
        for _ in range(3):
            client.get_account()
        self.assertEqual(len(self.server.connections), 1)
        client.open_call(ID)  # not repeatable, so it must not meet a dead connection
        self.assertEqual(len(self.server.connections), 2)
        client.close()
        with self.assertRaises(PorteroError):
            client.get_account()


class Answers(Scripted):
    def test_refusals_are_told_apart(self):
        kinds = ((401, "INVALID_KEY", AuthenticationError), (404, "NOT_FOUND", NotFoundError), (409, "VERSION_CONFLICT", VersionConflict),
                 (409, "SETTINGS_VERSION_CONFLICT", VersionConflict), (428, "VERSION_REQUIRED", VersionRequired), (500, "INTERNAL_ERROR", ServiceError))
        for status, code, kind in kinds:
            with self.assertRaises(kind) as refused:
                self.client(refusal(status, code)).get_account()
            error = refused.exception
            self.assertIsInstance(error, ApiError)
            self.assertEqual((error.status, error.code, error.message, error.next_action, error.request_id, error.retryable),
                             (status, code, f"about {code}", "do", "req_1", status >= 429))

    def test_an_answer_that_is_not_the_services(self):
        html = {"Content-Type": "text/html"}
        for answer in ((404, b"<h1>", html), (200, b"<h1>", html), (200, b"{", {}), (302, b"", {"Location": "https://127.0.0.1:9/"})):
            with self.assertRaises(UnexpectedAnswer):
                self.client(answer).get_account()

    def test_all_entries_of_all_pages(self):
        def page(data, cursor):
            return good({"data": data, "pagination": {"cursor": cursor, "has_more": cursor is not None}})
        client = self.client(page([1, 2], "c1"), page([], "c2"), page([3], None))
        self.assertEqual(list(client.iterate_logs(q="a b", succeeded=False)), [1, 2, 3])
        self.assertEqual([path for _, path, _, _ in self.server.requests],
                         [f"/v1/logs?q=a+b&succeeded=false{more}" for more in ("", "&cursor=c1", "&cursor=c2")])
        with self.assertRaises(PorteroError):
            list(self.client(page([1], "c1"), page([1], "c1")).iterate_logs())

    def test_the_header_of_the_building_where_it_belongs(self):
        client = self.client(good({}), good({"data": []}), good({}), building_id=ID)
        client.get_unlock(ID)
        client.list_buildings()
        client.get_unlock(ID, building_id="f" * 24)
        self.assertEqual(self.sent("X-Service-Building-Id"), [ID, None, "f" * 24])

    def test_https_only_and_the_key_is_not_shown(self):
        with self.assertRaises(PorteroError):
            Portero("http://localhost")
        self.assertNotIn("svc_agent", repr(self.client()))
        with self.assertRaises(PorteroError):
            self.client().get_unlock("")


class Live(Scripted):
    @staticmethod
    def stream(*blocks):
        def answer(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.wfile.write("".join(blocks).encode())
            handler.close_connection = True
        return answer

    @staticmethod
    def event(seq, kind="call.ring"):
        return f'id: {seq}\nevent: {kind}\ndata: {{"seq":{seq},"type":"{kind}"}}\n\n'

    def test_a_stream_resumes_and_gives_each_event_once(self):
        event = self.event
        client = self.client(self.stream("retry: 1\nid: 4\n\n", ": quiet\n\n", event(5), event(6)),
                             self.stream("retry: 1\n", event(6), event(9, "reset")), CUT, self.stream("retry: 1\n", event(10)), refusal(401, "INVALID_KEY"))
        seen = []
        with self.assertRaises(AuthenticationError), client.events(ID) as events:
            for one in events:
                seen.append((one.seq, one.type))
        self.assertEqual(seen, [(5, "call.ring"), (6, "call.ring"), (9, "reset"), (10, "call.ring")])
        self.assertEqual(self.sent("Last-Event-ID"), [None, "6", "9", "9", "10"])

    def test_another_thread_may_end_it(self):
        opened, hang = threading.Event(), threading.Event()
        self.addCleanup(hang.set)

        def quiet(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.end_headers()
            opened.set()
            hang.wait(30)
        events = self.client(quiet).events(ID)
        reader = threading.Thread(target=lambda: list(events), daemon=True)
        reader.start()
        self.assertTrue(opened.wait(30))
        events.close()
        reader.join(30)
        self.assertFalse(reader.is_alive())


class Webhooks(unittest.TestCase):
    SECRET, OTHER, NOW = "whsec_one", "whsec_two", 1_800_000_000
    BODY = b'{"id":"evt_1","type":"webhook.test","data":{}}'

    def sign(self, secret, stamp=NOW):
        return hmac.new(secret.encode(), f"{stamp}.".encode() + self.BODY, hashlib.sha256).hexdigest()

    def test_genuine_ones(self):
        genuine = f"t={self.NOW},v1={self.sign(self.SECRET)}"
        both = f"t={self.NOW},v1={self.sign(self.OTHER)},v1={self.sign(self.SECRET)}"
        mixed = f"t={self.NOW},v1=zz,v1={self.sign(self.SECRET)},v1={self.sign(self.SECRET)}0"
        for header, secrets in ((genuine, self.SECRET), (genuine, [self.OTHER, self.SECRET]), (both, self.SECRET), (mixed, self.SECRET)):
            self.assertEqual(verify_webhook(self.BODY, header, secrets, now=self.NOW + 300)["type"], "webhook.test")

    def test_characters_of_all_lengths(self):
        secret, body = "whsec_ключ🔑", '{"id":"evt_1","data":{"label":"Zoë’s 📦 \\u0000"}}'.encode()
        signature = hmac.new(secret.encode(), f"{self.NOW}.".encode() + body, hashlib.sha256).hexdigest()
        event = verify_webhook(body, f"t={self.NOW},v1={signature}", secret, now=self.NOW)
        self.assertEqual(event["data"]["label"], "Zoë’s 📦 \0")

    def test_others(self):
        genuine, now = f"t={self.NOW},v1={self.sign(self.SECRET)}", self.NOW
        cases = ((self.BODY, genuine, self.OTHER, now), (self.BODY, genuine, [], now), (self.BODY + b" ", genuine, self.SECRET, now),
                 (self.BODY, f"t={now + 1},v1={self.sign(self.SECRET)}", self.SECRET, now), (self.BODY, None, self.SECRET, now),
                 (self.BODY, f"t={now}", self.SECRET, now), (self.BODY, f"t={now},{genuine}", self.SECRET, now),
                 (self.BODY, f"t={now}" + f",v1={self.sign(self.SECRET)}" * 9, self.SECRET, now),
                 (self.BODY, f"t=१{now},v1={self.sign(self.SECRET, f'१{now}')}", self.SECRET, now),
                 (self.BODY, genuine + "00", self.SECRET, now), (self.BODY, genuine[:-2], self.SECRET, now),
                 (self.BODY, f"t={now},v1={self.sign(self.SECRET).upper()}", self.SECRET, now),
                 (self.BODY, f"t={now},v0={self.sign(self.SECRET)}", self.SECRET, now), (self.BODY, f"{genuine}, {genuine}", self.SECRET, now),
                 (self.BODY, genuine + "," + "x" * 4096, self.SECRET, now), (self.BODY, f"t={now},v1=ключ", self.SECRET, now),
                 (self.BODY, f"t={now},v1={self.sign('')}", "", now), (self.BODY, genuine, [self.SECRET, ""], now), (self.BODY, genuine, None, now),
                 (self.BODY, genuine, self.SECRET, now + 301), (self.BODY, genuine, self.SECRET, now - 301), (self.BODY, genuine, self.SECRET, float("nan")))
        for case in cases:
            with self.subTest(case), self.assertRaises(WebhookVerificationError):
                verify_webhook(case[0], case[1], case[2], now=case[3])


if __name__ == "__main__":
    unittest.main()
