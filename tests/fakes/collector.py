"""An OpenTelemetry collector on a free port: keeps what it is told, or misbehaves as asked."""

from __future__ import annotations

import contextlib
import gzip
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

WAIT_SECONDS = 60.0


class Collector:
    """What was told, decoded, and how to answer: ``status``, or not at all while ``hanging``."""

    def __init__(self) -> None:
        self.status = 200
        self.answer: dict[str, str] = {}
        self.body = b""
        self.hanging = False
        self.read_to_the_end = False
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.traces: list[Any] = []
        self.logs: list[Any] = []
        self.metric_requests: list[Any] = []
        self.changed = threading.Condition()
        self.released = threading.Event()
        self.url = ""

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        kind, kept = {
            "/v1/traces": (ExportTraceServiceRequest, self.traces),
            "/v1/logs": (ExportLogsServiceRequest, self.logs),
            "/v1/metrics": (ExportMetricsServiceRequest, self.metric_requests),
        }[path]
        plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        with self.changed:
            self.paths.append(path)
            self.headers.append(headers)
            self.bodies.append(plain)
            if self.status == 200 and not self.hanging:
                kept.append(kind.FromString(plain))
            self.changed.notify_all()

    def until(self, come: Any) -> None:
        """Wait until ``come`` is true of what was told."""
        with self.changed:
            assert self.changed.wait_for(come, WAIT_SECONDS)

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def events(self) -> list[LogRecord]:
        return [
            record
            for request in self.logs
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the last report, by name."""
        return {
            metric.name: metric
            for request in self.metric_requests[-1:]
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def text(self) -> str:
        """Everything that was ever sent, headers and all."""
        said = [body.decode("utf-8", "replace") for body in self.bodies]
        return "\n".join([*said, *map(str, self.headers)])


def plain(attributes: Any) -> dict[str, Any]:
    """Return attributes as ordinary values."""
    return {each.key: value_of(each.value) for each in attributes}


def value_of(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [value_of(each) for each in found.values] if kind == "array_value" else found


@contextlib.contextmanager
def collecting(certified: tuple[Path, Path] | None = None) -> Iterator[Collector]:
    """Run a collector while entered; with a certificate and its key it speaks TLS."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {key.lower(): value for key, value in self.headers.items()}
            collector.take(self.path, headers, body)
            if collector.hanging:
                collector.released.wait(WAIT_SECONDS)
                self.close_connection = True
                return
            with contextlib.suppress(ConnectionError):
                self.send_response(collector.status)
                for name, value in collector.answer.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(collector.body)))
                self.end_headers()
                self.wfile.write(collector.body)
                collector.read_to_the_end = True

        def handle(self) -> None:
            with contextlib.suppress(ssl.SSLError):  # not trusted
                super().handle()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    if certified is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certified)
        # The handshake is left to the thread of the connection.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        collector.url = f"https://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
