"""A camera in the network: an MJPEG server on this machine that can be made to misbehave."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2

from tests.camera.devices import Noise


def jpeg(image) -> bytes:
    done, encoded = cv2.imencode(".jpg", image)
    assert done
    return encoded.tobytes()


SUMS = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}
BASIC = 'Basic realm="kitchen"'
DIGEST = 'Digest realm="kitchen", nonce="once"'


class CameraServer:
    """Serves what `picture` gives, as JPEG; a context manager.

    `behaviour` is what a new request meets: ``stream``, ``page``, ``picture``, ``forbidden``, ``missing``, ``bare``
    (a stream without lengths), ``garbage`` (pictures that are none), ``long`` (the lengths are far too large). While
    `stall` is set nothing more is sent; setting `hang_up` closes every connection. Where `people` are, a name and a
    password, nobody else is let in, and `asks` are the ways to log in that are offered, each in a header of its own.
    `answered` counts the requests, `logins` are all that were tried, `sends_on` is where requests for a path are sent;
    None, if that is not told.
    """

    def __init__(self, picture=None, *, frame_s: float = 0.02, port: int = 0) -> None:
        self.picture = picture or Noise()
        self.encoded = jpeg
        self.behaviour = "stream"
        self.people: tuple[str, str] | None = None
        self.asks: tuple[str, ...] = (BASIC,)
        self.logins: list[str] = []
        self.sends_on: dict[str, str | None] = {}
        self.answered = 0
        self.stall = threading.Event()
        self.hang_up = threading.Event()
        self._over = threading.Event()
        self._frame_s = frame_s
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *args) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = False
        self.port = self._http.server_port
        self.address = f"http://127.0.0.1:{self.port}/video"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="camera server")

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._over.is_set():
            return
        self._over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.answered += 1
        if "Authorization" in request.headers:
            self.logins.append(request.headers["Authorization"])
        if request.path in self.sends_on:
            request.send_response(302)
            if self.sends_on[request.path] is not None:
                request.send_header("Location", self.sends_on[request.path])
            request.end_headers()
            return
        if not self._lets_in(request):
            request.send_response(401)
            for offer in self.asks:
                request.send_header("WWW-Authenticate", offer)
            request.end_headers()
            return
        plain = {"page": (200, "text/html"), "picture": (200, "image/jpeg"),
                 "forbidden": (401, "text/html"), "missing": (404, "text/html")}  # fmt: skip
        status, kind = plain.get(self.behaviour, (200, "multipart/x-mixed-replace; boundary=cut"))
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.end_headers()
        if self.behaviour not in plain:
            with contextlib.suppress(OSError):
                self._stream(request)

    def _lets_in(self, request: BaseHTTPRequestHandler) -> bool:
        if self.people is None:
            return True
        name, password = self.people
        told = request.headers.get("Authorization", "").encode("latin-1").decode()
        if told.startswith("Basic "):
            return told == f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"
        fields = {
            key: quoted or plain for key, quoted, plain in re.findall(r'(\w+)=(?:"((?:\\.|[^"])*)"|([^, ]+))', told)
        }
        return told.startswith("Digest ") and self._is_right(fields, request.path)

    def _is_right(self, fields: dict[str, str], path: str) -> bool:
        def digest(*parts: str) -> str:
            return SUMS[fields.get("algorithm", "MD5")](":".join(parts).encode()).hexdigest()

        name, password = self.people
        middle = [fields["nonce"]]
        if any("qop=" in offer for offer in self.asks):
            middle += [fields["nc"], fields["cnonce"], "auth"]
        answer = digest(digest(name, "kitchen", password), *middle, digest("GET", path))
        return (fields["username"].replace("\\", ""), fields["uri"], fields["response"]) == (name, path, answer)

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        self.hang_up.clear()
        while not (self._over.wait(self._frame_s) or self.hang_up.is_set()):
            if self.stall.is_set():
                continue
            sent = b"\xff\xd8 nothing \xff\xd9" if self.behaviour == "garbage" else self.encoded(self.picture())
            told = 15_000_000 if self.behaviour == "long" else len(sent)
            length = b"" if self.behaviour == "bare" else b"Content-Length: %d\r\n" % told
            request.wfile.write(b"--cut\r\nContent-Type: image/jpeg\r\n" + length + b"\r\n" + sent + b"\r\n")
