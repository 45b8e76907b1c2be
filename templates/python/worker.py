"""A pull worker in Python's standard library: serves the job class `shout` of the queue `python`.

It claims runs, performs them and commits the changes of each run: all of them or none.
"""

import json
import os
import secrets
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

URL = os.environ.get("SIDEJOB_URL", "http://127.0.0.1:8787")
KEY = os.environ["SIDEJOB_API_KEY"]
# Name of this process in `sidejob processes` and `sidejob processes stop`.
NAME = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


def ask(method: str, path: str, body: dict) -> dict | None:
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), method=method)
    request.add_header("authorization", "Bearer " + KEY)
    request.add_header("content-type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        error.msg = error.read().decode()  # the body names the problem
        raise


def shout(snapshot: dict) -> dict:
    return {"end": "completed", "result": snapshot["job"]["args"]["text"].upper()}


CLASSES = {"shout": shout}


def perform(snapshot: dict) -> dict:
    try:
        return CLASSES[snapshot["job"]["class"]](snapshot)
    except Exception as error:  # the job fails with this error and is retried
        return {"end": "failed", "error": {"message": f"{type(error).__name__}: {error}"}}


@contextmanager
def kept(tokens: list[str]):
    """Extends the leases of claimed runs every 20 s. Without that, a run is lost after a minute."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(20):
            for token in list(tokens):
                try:
                    ask("POST", f"/v1/runs/{token}/heartbeat", {})
                except OSError as error:  # 410 LOST: the commit of this run will be refused
                    print(f"no heartbeat: {error}", flush=True)

    threading.Thread(target=beat, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def commit(token: str, changes: dict) -> None:
    """Sends the changes until sidejob answers. sidejob applies them once, even if it gets them twice."""
    while True:
        try:
            ask("POST", f"/v1/runs/{token}/commit", changes)
            return
        except OSError as error:
            print(f"run {token} is not committed: {error}", flush=True)
            code = getattr(error, "code", 503)
            if code < 500 and code != 429:  # 410 LOST, or sidejob refuses the changes
                return
            time.sleep(1)


def serve() -> None:
    for name in CLASSES:
        ask("PUT", f"/v1/workers/python/{name}", {"pull": True, "retry": {"max": 3}})
    print("waiting for work", flush=True)
    while True:
        try:
            claimed = ask("POST", "/v1/queues/python/claim", {"wait": "20s", "max": 10, "process": NAME})
            runs = (claimed or {}).get("runs", [])
            tokens = [run["run"]["token"] for run in runs]
            with kept(tokens):
                for run in runs:
                    commit(tokens[0], perform(run))
                    tokens.pop(0)
            if (claimed or {}).get("signal") == "stop":
                return print("stopped", flush=True)
        except OSError as error:
            print(f"sidejob does not answer ({error}); trying again", flush=True)
            time.sleep(1)


if __name__ == "__main__":
    try:
        serve()
    except OSError as error:
        raise SystemExit(f"cannot register at {URL}: {error}")
    except KeyboardInterrupt:
        print("stopped")
