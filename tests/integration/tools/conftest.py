"""A folder to work in and web servers to talk to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from navi.live.model.access.user import Role
from navi.live.model.tool import ToolContext
from tests.integration.tools.web import WebServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def context(folder: Path) -> ToolContext:
    return ToolContext(
        session_id="ses_test",
        cwd=folder,
        current_user_id="local",
        current_user_role=Role.ADMIN,
        current_user_info={},
    )


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    web = WebServer()
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web


@pytest.fixture
def certificate() -> Path:
    """A certificate for shop.example, with its key."""
    return Path(__file__).with_name("certificate.pem")


@pytest.fixture
async def secure_web(certificate: Path) -> AsyncIterator[WebServer]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    web = WebServer()
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web
