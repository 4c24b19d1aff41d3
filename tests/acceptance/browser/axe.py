"""axe-core: finds what can't be used with a keyboard, a screen reader or weak eyes."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from tests.paths import ROOT

AXE = ROOT / "build" / "clients" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (rules) => {
    const {violations} = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
    return violations.flatMap(({id, nodes}) => nodes.map(
        ({target, failureSummary}) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}"""


async def violations(page: Page) -> list[str]:
    """What axe-core finds in the page as it is now: a rule, an element and what is wrong."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `make test` installs it with npm")
    if not await page.evaluate("'axe' in window"):
        # As from the console: a script element would be refused by the page's policy.
        await page.evaluate(AXE.read_text())
    result: Any = await page.evaluate(RUN, RULES)
    return list(result)
