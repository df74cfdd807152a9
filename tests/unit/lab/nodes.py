"""What the nodes of a lab in the process say, read as a client of their ports reads it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from monitor.lab.node_server import NodeFace

if TYPE_CHECKING:
    from monitor.lab.service import Service
    from monitor.lab.settings import NodeRole


class Nodes:
    """The faces of all nodes, kept from one reading to the next."""

    def __init__(self, service: Service) -> None:
        self._faces = {role: NodeFace(service, role) for role in service.settings.roles}

    def get(self, role: NodeRole, path: str, token: str = "") -> httpx.Response:
        """Read one page of one node."""
        return asyncio.run(self._get(role, path, token))

    def info(self, role: NodeRole) -> dict[str, Any]:
        """Return what a node says of itself."""
        said: dict[str, Any] = self.get(role, "/server_info").json()
        return said

    def values(self, role: NodeRole) -> dict[str, float]:
        """Return the scrape of one node with one rank: values by name, buckets left out."""
        families = text_string_to_metric_families(self.get(role, "/metrics").text)
        return {
            sample.name.removeprefix("sglang:"): sample.value
            for family in families
            for sample in family.samples
            if "le" not in sample.labels
        }

    async def _get(self, role: NodeRole, path: str, token: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app=self._faces[role])
        async with httpx.AsyncClient(transport=transport, base_url="http://node") as http:
            return await http.get(path, headers=headers)
