"""Every text can be found, in any script, by any part a person remembers."""

from __future__ import annotations

from datetime import timedelta

from navi.memory.read.search import Filters, Search
from tests.memory_world import START, World

WRITTEN_AND_ASKED = [
    ("error 4021 in build 17", "4021"),
    ("the quick fox", "the"),
    ("to be or not to be", '"to be or not"'),
    ("running tests", "running"),
    ("see auth_handler for it", "auth_handler"),
    ("see auth_handler for it", "auth"),
    ("see auth_handler for it", "AuthHandler"),
    ("class AuthHandler(Base)", "AuthHandler"),
    ("class AuthHandler(Base)", "authhandler"),
    ("class AuthHandler(Base)", "handler"),
    ("class AuthHandler(Base)", "auth_handler"),
    ("an HTTPServerError came", "server"),
    ("open src/auth/handler.ts now", "src/auth/handler.ts"),
    ("open src/auth/handler.ts now", "handler.ts"),
    ("open src/auth/handler.ts now", "auth/handler"),
    ("Grüße aus Köln", "köln"),
    ("Grüße aus Köln", "koln"),
    ("Gru\u0308ße aus Ko\u0308ln", "grüße"),
    ("une café très chère", "cafe"),
    ("ein Café", "CAFE\u0301"),
    ("我们修复了登录错误", "登录"),
    ("我们修复了登录错误", "修复了登录错误"),
    ("日本語のテストです", "テスト"),
    ("日本語Test", "test"),
    ("검색을 고쳤다", "검색"),
    ("ฉันแก้ไขข้อผิดพลาด", "ข้อผิด"),
    ("Исправил ошибку", "ошибку"),
    ("διόρθωσα το σφάλμα", "σφάλμα"),
    ("תיקנתי את הבאג", "הבאג"),
    ("मैंने त्रुटि ठीक की", "त्रुटि"),
    ("version v2.1.325-beta", "2.1.325"),
    ("sha 3f2a9c77de", "3f2a9c77de"),
    ("user@example.org wrote", "user@example.org"),
    ("call foo() twice", "foo()"),
    ("x = y+z", "y+z"),
    ("good night 🌙", "🌙"),
    ("good🌙night", "good 🌙"),
    ("deployed 🚀🎉 at last", "🚀🎉"),
    ("red 🍎 apple", '"red apple"'),
    ("fine 👍🏽", "👍"),
    ("all tests ✅", "tests ✅"),
    ("a family 👨‍👩‍👧 here", "👨‍👩‍👧"),
]


def test_what_was_written_is_found(world: World) -> None:
    for number, (written, _) in enumerate(WRITTEN_AND_ASKED):
        world.file(f"text-{number}").say(written)
    world.index()
    search = Search(world.paths)
    for number, (written, query) in enumerate(WRITTEN_AND_ASKED):
        hits = search.find(query)
        assert hits.has_all_words, f"{written!r} by {query!r}"
        sessions = {hit.source_session_id for hit in hits.hits}
        assert f"text-{number}" in sessions, f"{written!r} by {query!r}"


def test_all_words_must_match_phrases_in_order_and_excluded_ones_not_at_all(world: World) -> None:
    file = world.file()
    for text in ("red apple tart", "apple red", "green apple", "redder applesauce"):
        file.say(text)
    world.index()
    assert world.texts("red apple") == ["apple red", "red apple tart"]
    assert world.texts('"red apple"') == ["red apple tart"]
    assert world.texts("apple -red") == ["green apple"]
    assert world.texts("apple*") == sorted(
        ["red apple tart", "apple red", "green apple", "redder applesauce"]
    )
    assert world.texts('apple -"red apple"') == ["apple red", "green apple"]
    assert len(world.texts("-green")) == 3
    assert world.texts("apple -apple") == []


def test_texts_with_some_of_the_words_are_shown_if_none_has_all(world: World) -> None:
    world.file().say("fix the login").say("water the plants")
    world.index()
    hits = Search(world.paths).find("how did we fix that login bug")
    assert not hits.has_all_words
    assert [hit.snippet.text for hit in hits.hits][:1] == ["fix the login"]


def test_sessions_with_some_of_the_words_come_after_those_with_all(world: World) -> None:
    world.file("all").say("fix the login page")
    world.file("some").say("the login page is slow, the login page is ugly")
    world.file("one").say("a page of a book")
    world.index()
    result = Search(world.paths).find("fix login page")
    assert result.has_all_words
    assert [(hit.source_session_id, hit.has_all_words) for hit in result.hits] == [
        *(("all", True), ("some", False)),
    ]
    assert Search(world.paths).total("fix login page") == 1
    assert len(Search(world.paths).find("fix login page", limit=None).hits) == 1


def test_a_look_up_finds_only_what_is_there(world: World) -> None:
    world.file("all").say("open src/auth/handler.ts and fix login")
    world.file("some").say("fix login in src/auth/other.ts")
    world.index()
    hits = Search(world.paths).find("src/auth/handler.ts fix login").hits
    assert [hit.source_session_id for hit in hits] == ["all"]


def test_the_hits_of_a_session_stay_together_and_the_best_session_comes_first(
    world: World,
) -> None:
    world.file("once").say("the pump was stuck")
    often = world.file("often")
    for number in range(6):
        often.say(f"the pump is stuck again {number}")
    world.file("never").say("something else")
    world.index()
    hits = Search(world.paths).find("pump stuck", limit=5).hits
    sessions = [hit.source_session_id for hit in hits]
    assert sessions == ["often"] * 4 + ["once"]
    assert len(Search(world.paths).find("pump stuck", limit=None).hits) == 7


def test_the_better_match_comes_first(world: World) -> None:
    world.file("one").say("pancake recipe: pancake batter for one pancake")
    world.file("two").say("a long story " * 30 + "with one pancake somewhere " + "at last " * 30)
    world.index()
    hits = world.find("pancake")
    assert [hit.source_session_id for hit in hits] == ["one", "two"]
    assert hits[0].score > hits[1].score


def test_filters_leave_only_what_they_name(world: World) -> None:
    shop = world.file("one", "shop").say("pear one").run("echo pear two", text="pear three")
    shop.say("pear four", "assistant")
    world.file("two", "garden").say("pear five")
    world.index()
    assert len(world.find("pear")) == 5
    assert world.texts("pear", Filters(role="user")) == ["pear five", "pear one"]
    assert world.texts("pear", Filters(project="garden")) == ["pear five"]
    assert world.texts("pear", Filters(project=str(world.home / "garden") + "/")) == ["pear five"]
    assert world.texts("pear", Filters(project="nowhere")) == []
    assert world.texts("pear", Filters(tool="bash")) == ["echo pear two", "pear three"]
    assert world.texts("pear", Filters(tool="Read")) == []
    assert len(world.find("pear", Filters(source="claude_code"))) == 5
    assert world.find("pear", Filters(source="codex")) == []
    assert world.texts("pear", Filters(session="two")) == ["pear five"]
    session = world.find("pear five")[0].session_id
    assert world.texts("pear", Filters(session=session[:6])) == ["pear five"]
    later = START + timedelta(seconds=2)
    assert world.texts("pear", Filters(since=later)) == ["pear four"]
    assert world.texts("pear", Filters(until=later, project="shop")) == [
        *("echo pear two", "pear one", "pear three"),
    ]


def test_a_project_with_a_slash_at_its_end_is_the_whole_name_of_a_folder(world: World) -> None:
    for name in ("shop", "shop-old"):
        world.file(name, name).say("pear")
    world.index()
    assert len(world.find("pear", Filters(project="shop"))) == 2
    (hit,) = world.find("pear", Filters(project="/shop/"))
    assert hit.source_session_id == "shop"


def test_matches_are_counted_and_sorted_by_date_without_a_limit(world: World) -> None:
    file = world.file()
    for number in range(30):
        file.say("pear " * (30 - number) + str(number))
    world.index()
    search = Search(world.paths)
    assert search.total("pear") == 30
    assert search.total("pear plum", has_all_words=False) == 30
    assert len(search.find("pear", limit=None).hits) == 30
    by_date = search.find("pear", limit=5, by_date=True).hits
    assert [hit.idx for hit in by_date] == [29, 28, 27, 26, 25]


def test_the_messages_around_a_hit_are_read_from_the_full_text(world: World) -> None:
    file = world.file()
    for number in range(6):
        file.say(f"message {number}")
    world.file("other").say("message 3 of another session")
    world.index()
    search = Search(world.paths)
    (hit,) = search.find('"message 3" -another').hits
    assert [passage.text for passage in search.around(hit, 2)] == [
        *("message 1", "message 2", "message 4", "message 5"),
    ]


def test_only_the_chosen_fields_are_searchable_and_changing_them_rebuilds_the_texts(
    world: World, monkeypatch
) -> None:
    world.file().say("pear").think("plum").run("ls quince")
    monkeypatch.setenv("RECALL_FTS_FIELDS", "content,bash")
    world.index()
    assert [len(world.find(word)) for word in ("pear", "plum", "quince")] == [1, 0, 1]
    monkeypatch.delenv("RECALL_FTS_FIELDS")
    assert world.index().indexed == 0
    assert [len(world.find(word)) for word in ("pear", "plum", "quince")] == [1, 1, 1]
    config = world.home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[fts]\nfields = ["thinking"]\n')
    world.index()
    assert [len(world.find(word)) for word in ("pear", "plum", "quince")] == [0, 1, 0]


def test_a_snippet_shows_the_words_and_says_where_they_are(world: World) -> None:
    world.file().say("before " * 200 + "the NEEDLE stands here" + " after" * 200)
    world.index()
    snippet = world.find("needle")[0].snippet
    assert len(snippet.text) < 300
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["NEEDLE"]


def test_secrets_do_not_show_up_in_results(world: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    world.file().say(f"my token is {secret} please keep it")
    world.index()
    (hit,) = world.find("token")
    assert secret not in hit.snippet.text
    assert "masked" in hit.snippet.text


def test_an_emoji_is_shown_where_it_is_and_finds_no_other(world: World) -> None:
    world.file().say("good night 🌙").say("good morning ☀️").say("emoji1f31")
    world.index()
    (hit,) = world.find("🌙")
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["🌙"]
    assert world.texts("good -🌙") == ["good morning ☀️"]


def test_an_open_search_sees_new_texts_after_a_reload(world: World) -> None:
    file = world.file().say("pear")
    world.index()
    search = Search(world.paths)
    file.say("plum")
    world.index()
    search.reload()
    assert len(search.find("plum").hits) == 1
