"""A camera in the network: an MJPEG server on this machine that can be made to misbehave."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2

from tests.camera.devices import Noise


def jpeg(image) -> bytes:
    done, encoded = cv2.imencode(".jpg", image)
    assert done
    return encoded.tobytes()


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class CameraServer:
    """Serves what `picture` gives, as JPEG; a context manager.

    `behaviour` is what a new request meets: ``stream``, ``page``, ``picture``, ``forbidden``, ``missing``, ``bare``
    (a stream without lengths), ``garbage`` (pictures that are none). While `stall` is set nothing more is sent;
    setting `hang_up` closes every connection. Where `people` are, a name and a password, nobody else is let in, and
    `asks` is how they are asked: ``Basic`` or ``Digest``.
    """

    def __init__(self, picture=None, *, frame_s: float = 0.02, port: int = 0) -> None:
        self.picture = picture or Noise()
        self.behaviour = "stream"
        self.people: tuple[str, str] | None = None
        self.asks = "Basic"
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
        if not self._lets_in(request):
            request.send_response(401)
            request.send_header("WWW-Authenticate", f'{self.asks} realm="kitchen", nonce="once"')
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
        told = request.headers.get("Authorization", "")
        if self.asks == "Basic":
            return told == f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"
        halves = (f"{name}:kitchen:{password}", f"GET:{request.path}")
        answer = _md5(":".join((_md5(halves[0]), "once", _md5(halves[1]))))
        return told.startswith("Digest ") and f'username="{name}"' in told and f'response="{answer}"' in told

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        self.hang_up.clear()
        while not (self._over.wait(self._frame_s) or self.hang_up.is_set()):
            if self.stall.is_set():
                continue
            sent = b"\xff\xd8 nothing \xff\xd9" if self.behaviour == "garbage" else jpeg(self.picture())
            length = b"" if self.behaviour == "bare" else b"Content-Length: %d\r\n" % len(sent)
            request.wfile.write(b"--cut\r\nContent-Type: image/jpeg\r\n" + length + b"\r\n" + sent + b"\r\n")
