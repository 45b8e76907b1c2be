"""A push worker in Python's standard library: pairs values of `left` with values of `right`.

sidejob sends each snapshot as a POST, and commits all changes of the response or none. See README.md.
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
TOLERANCE = 5 * 60  # maximum age of a signature in seconds, including clock differences


def signature(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def is_from_sidejob(headers, body: bytes) -> bool:
    """Standard Webhooks: HMAC-SHA256 over id, timestamp and body. One valid signature is enough."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    expected = signature(SECRET, message_id, timestamp, body).encode()
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(expected, one) for one in given)


def zip_ports(snapshot: dict) -> dict:
    """Performs a run of class `zip`: takes all complete pairs, and waits for the missing halves."""
    left, right = snapshot["in"]["left"], snapshot["in"]["right"]
    lefts = [item["data"] for item in left["values"]]
    rights = [item["data"] for item in right["values"]]
    if "default" in right:
        rights += [right["default"]["data"]] * (len(lefts) - len(rights))
    pairs = [list(pair) for pair in zip(lefts, rights)]
    taken = min(len(pairs), len(right["values"]))
    is_done = len(pairs) == len(lefts) and taken == len(right["values"])
    return {
        "end": "completed" if is_done else "suspended",
        "reads": {
            "left": {"cursor": left["cursor"], "count": len(pairs)},
            "right": {"cursor": right["cursor"], "count": taken},
        },
        "state": {"set": {"pairs": snapshot["state"].get("pairs", 0) + len(pairs)}},
        "ops": [{"op": "write", "to": {"out": "pair"}, "values": pairs}],
    }


CLASSES = {"zip": zip_ports}


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_from_sidejob(self.headers, body):
            return self.answer(401, {"error": "the signature does not match this secret, body and time"})
        snapshot = json.loads(body)
        perform = CLASSES.get(snapshot["job"]["class"])
        if perform is None:
            return self.answer(404, {"error": f"no class {snapshot['job']['class']} here"})
        try:
            changes = perform(snapshot)
        except Exception as error:  # the job fails with this error and is retried
            changes = {"end": "failed", "error": {"message": f"{type(error).__name__}: {error}"}}
        self.answer(200, changes)

    def answer(self, status: int, value: dict):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Worker)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
