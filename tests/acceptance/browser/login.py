"""Log a browser in without clicking through the login page."""

from __future__ import annotations

import json
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from playwright.async_api import StorageState

from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.proxy import Proxy
from tests.server import ServerProcess


async def logged_in(server: ServerProcess | OwnUser | Proxy) -> StorageState:
    """What a browser keeps after its login: one half as a cookie, one in the page's storage."""
    async with httpx2.AsyncClient(base_url=server.address, trust_env=False) as browser:
        answer = await browser.post("/login", json={"token": server.token})
        made = answer.raise_for_status().json()
        [(name, value)] = browser.cookies.items()
    login = {"user": made["user_id"], "secret": made["page_secret"]}
    state: Any = {
        "cookies": [
            {
                "name": name,
                "value": value,
                "domain": urlsplit(server.address).hostname,
                "path": "/",
                "expires": -1,
                "httpOnly": True,
                "secure": False,
                "sameSite": "Strict",
            }
        ],
        "origins": [
            {
                "origin": server.address,
                "localStorage": [{"name": "navi.login", "value": json.dumps(login)}],
            }
        ],
    }
    return cast("StorageState", state)
