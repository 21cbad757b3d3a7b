"""Starts the platform's own runtime in a container without a network, with a small server in the place of S3.

A bucket is a folder below /mnt/buckets, and an object is a file in it.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

BUCKETS = Path("/mnt/buckets")


class Objects(BaseHTTPRequestHandler):
    """The operations on objects that the runtime calls: HEAD, GET and PUT of whole ones."""

    protocol_version = "HTTP/1.1"

    @property
    def file(self) -> Path:
        return BUCKETS / unquote(urlsplit(self.path).path).lstrip("/")

    def answer(self, status: int, content: bytes = b"", body: bool = True) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if body:
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        self.do_GET(body=False)

    def do_GET(self, body: bool = True) -> None:
        found = self.file.is_file()
        self.answer(200 if found else 404, self.file.read_bytes() if found else b"", body)

    def do_PUT(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(200)

    def log_message(self, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Objects)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ |= {
    "AWS_S3_ENDPOINT_URL": f"http://127.0.0.1:{server.server_address[1]}",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "any",
    "AWS_SECRET_ACCESS_KEY": "any",
    # whole objects, which a small server understands
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
}
sys.path.insert(0, "/opt/shim")
from sagemaker_shim.cli import cli  # noqa: E402 - found at that path alone

cli(sys.argv[1:])
