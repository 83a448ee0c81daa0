"""What guards every page that this project serves: the size of requests, their Host and Origin, security headers."""

import os
from collections.abc import Mapping

MAX_BODY = 2 * 2**20  # bytes of a request that is not an upload
MAX_UPLOAD = 5 * 2**20  # bytes of an uploaded file
FORM = 2**16  # bytes of an upload around the file
HERE = ("localhost", "127.0.0.1", "[::1]")
# The page loads, runs and contacts nothing but itself, even if it contains hostile text. Gradio needs inline scripts
# and eval for its templates.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'"
)
_NOT_HERE = b"This page is served to this machine alone: open it at localhost, or set GRADIO_SERVER_NAME to serve it."
_FOREIGN = b"The request comes from a page of another site."


def only_here(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a page is served to this machine alone: no other name is given, and it is no Space.

    >>> only_here({}), only_here({"GRADIO_SERVER_NAME": "0.0.0.0"}), only_here({"SPACE_ID": "org/name"})
    (True, False, False)
    """
    name = environment.get("GRADIO_SERVER_NAME") or "127.0.0.1"
    shared = environment.get("GRADIO_SHARE", "").lower() in ("1", "true")
    return name in (*HERE, "::1") and not shared and not environment.get("SPACE_ID")


def host_of(header: str) -> str:
    """Return the name in a Host header, without the port.

    >>> host_of("localhost:7860"), host_of("[::1]:80"), host_of("evil.example")
    ('localhost', '[::1]', 'evil.example')
    """
    return header[: header.find("]") + 1] if header.startswith("[") else header.partition(":")[0].lower()


def foreign(headers: Mapping[bytes, list[bytes]]) -> bytes | None:
    """Return why a page of this machine alone refuses a request, by its Host and Origin; None if it does not.

    >>> foreign({b"host": [b"localhost:80"], b"origin": [b"http://localhost:80"]})
    >>> foreign({b"host": [b"localhost:80"], b"origin": [b"http://evil.example"]})
    b'The request comes from a page of another site.'
    """
    hosts = [header.decode("latin-1") for header in headers.get(b"host", [])]
    if any(host_of(host) not in HERE for host in hosts):
        return _NOT_HERE
    origins = [header.decode("latin-1").partition("://")[2] for header in headers.get(b"origin", [])]
    return _FOREIGN if any(origin not in hosts for origin in origins) else None


class Guard:
    """ASGI middleware: refuses large and foreign requests, and adds security headers.

    A page served to this machine alone answers only under the names of this machine (against DNS rebinding) and only
    pages of its own (against forms of other sites). A body of unknown length is read here, up to the limit, before the
    page gets any of it, so that nothing is kept of one that is refused. `uploads`: bytes at most; 0 for no uploads.
    """

    def __init__(self, app, uploads: int = MAX_UPLOAD):
        self.app, self.uploads = app, uploads

    async def __call__(self, scope, receive, send):
        """Forward a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers: dict[bytes, list[bytes]] = {}
        for name, content in scope["headers"]:
            headers.setdefault(name.lower(), []).append(content)
        if problem := foreign(headers) if only_here() else None:
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            return await answer(send, 403, b"text/plain", problem)
        if scope["type"] == "websocket":
            return await self.app(scope, receive, send)

        is_upload = scope["path"].rstrip("/").endswith("/upload")
        if is_upload and not self.uploads:
            return await answer(send, 413, b"text/plain", b"This page takes no files.")
        most = self.uploads + FORM if is_upload else MAX_BODY
        sizes = headers.get(b"content-length", [])
        too_large = any(not size.isdigit() or int(size) > most for size in sizes)
        if not too_large and headers.get(b"transfer-encoding"):
            body = await read_body(receive, most)
            too_large = body is None
            receive = replayed(body or b"", receive)
        if too_large:
            text = f"The request is too large: the limit is {most:,} bytes."
            return await answer(send, 413, b"text/plain", text.encode())

        async def with_headers(message):
            if message["type"] == "http.response.start":
                added = [(b"content-security-policy", POLICY.encode()), (b"x-content-type-options", b"nosniff")]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, with_headers)


async def read_body(receive, most: int) -> bytes | None:
    """Return the body of a request; None if it is larger than `most` bytes or the sender left."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most or message["type"] != "http.request":
            return None
        if not message.get("more_body"):
            return bytes(body)


def replayed(body: bytes, receive):
    """Return a function that receives a body that was read, and then what `receive` does."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again():
        return left.pop() if left else await receive()

    return again


async def answer(send, status: int, kind: bytes, body: bytes) -> None:
    """Send a whole answer."""
    headers = [(b"content-type", kind), (b"connection", b"close")] if status >= 400 else [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
