"""A Grafana as its HTTP API documents folders and dashboards, on a free port of the loopback."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "glsa_0123456789abcdefABCDEF_01234567"  # noqa: S105 - of nobody
_LONGEST_UID = 40


@dataclass(slots=True)
class Grafana:
    """What it holds, who may write, and every request that came."""

    url: str = ""
    token: str = TOKEN
    may_write: bool = True
    # A proxy before it answers everything with its page to log in.
    login: str = ""
    # Dashboards that it reads from files it lets nobody save, however it is asked.
    from_files: bool = False
    title_taken: bool = False
    folders: dict[str, str] = field(default_factory=dict)
    dashboards: dict[str, dict[str, Any]] = field(default_factory=dict)
    arrived: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        """Return status and JSON, as documented."""
        self.arrived.append((method, path))
        if self.login:
            return 200, self.login
        if token != f"Bearer {self.token}":
            return 401, {"message": "Unauthorized"}
        if method == "GET":
            return self._find(path)
        if not self.may_write:
            return 403, {"message": "You'll need additional permissions"}
        if path == "/api/folders":
            return self._make(body)
        return self._save(body) if path == "/api/dashboards/db" else (404, {})

    def _make(self, body: Any) -> tuple[int, Any]:
        if self.title_taken:
            return 409, {"message": "a folder with the same name already exists"}
        self.folders[body["uid"]] = body["title"]
        return 200, {"uid": body["uid"], "title": body["title"]}

    def _find(self, path: str) -> tuple[int, Any]:
        uid = path.removeprefix("/api/folders/")
        if uid in self.folders:
            return 200, {"uid": uid, "title": self.folders[uid]}
        return 404, {"message": "folder not found", "status": "not-found"}

    def _save(self, body: Any) -> tuple[int, Any]:
        asked = body["dashboard"]
        uid = asked["uid"]
        if len(uid) > _LONGEST_UID or not asked.get("title") or asked.get("id") is not None:
            return 400, {"message": "bad request data"}
        if self.from_files:
            return 400, {"message": "Cannot save provisioned dashboard"}
        if body["folderUid"] not in self.folders:
            return 400, {"message": "folder not found"}
        kept = self.dashboards.get(uid)
        if kept and not body["overwrite"] and kept["version"] != asked.get("version", 0):
            return 412, {"status": "version-mismatch", "message": "changed by someone else"}
        same_title = [
            each
            for each, other in self.dashboards.items()
            if other["title"] == asked["title"] and each != uid
        ]
        if same_title:
            return 412, {"status": "name-exists", "message": "same name in the folder"}
        version = (kept["version"] if kept else 0) + 1
        self.dashboards[uid] = {**asked, "version": version, "folder": body["folderUid"]}
        return 200, {"uid": uid, "url": f"/d/{uid}", "status": "success", "version": version}


@contextlib.contextmanager
def serving() -> Iterator[Grafana]:
    """Serve while entered."""
    grafana = Grafana()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            token = self.headers.get("Authorization", "")
            status, said = grafana.answer(self.command, self.path, token, body)
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    grafana.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield grafana
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
