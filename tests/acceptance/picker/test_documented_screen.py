from __future__ import annotations

from scripts.picker_screen import PAGE, picker_screen


async def test_the_screen_in_the_documents_is_what_make_pictures_draws() -> None:
    assert f"```text\n{await picker_screen()}```\n" in PAGE.read_text(), "run `make pictures`"
