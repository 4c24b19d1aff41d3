"""Secrets are masked, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navi.base.secrets.masking import KINDS, _long_words, _lower, mask, masked_json
from navi.base.secrets.secret_kind import SHORTEST_WORD, SecretKind
from tests.secret_samples import HARMLESS, SAMPLES, Sample


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_pattern_masks_the_example_that_proves_it(kind: SecretKind) -> None:
    for text in (kind.example, f"see {kind.example} there", f"x\n{kind.example}\ny"):
        masked = mask(text)
        assert f"[masked: {kind.name}]" in masked
        assert secret_of(kind) not in masked


def test_what_stands_around_a_secret_stays() -> None:
    key = "sk-" + "ant-" + "api03-" + "a1B2c3D4" * 6
    assert mask(f"export KEY='{key}' # mine") == "export KEY='[masked: Anthropic key]' # mine"
    assert (
        mask("postgres://me:" + "s3cret99@db/x?y=z") == "postgres://me:[masked: password]@db/x?y=z"
    )


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("\x1b[1;31m\x1b[Kghp_\x1b[m\x1b[K" + "aB3d" * 9, "[masked: GitHub token]"),
        ("\x1b[31mpassword\x1b[m: hunter2299", "password: [masked: secret]"),
        ("gh\u200ep_" + "aB3d" * 9, "[masked: GitHub token]"),
        ("\x1b[31mghp_" + "aB3d" * 9 + "\x1b[m", "[masked: GitHub token]"),
        ("\x1b[31mharmless\x1b[m", "\x1b[31mharmless\x1b[m"),
    ],
)
def test_a_secret_that_is_cut_by_control_characters_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("API_KEY=abc123def456", "API_KEY=[masked: secret]"),
        ("PASSWORD=correcthorse", "PASSWORD=[masked: secret]"),
        ('export X_TOKEN="abcdef1234567890"', 'export X_TOKEN="[masked: secret]"'),
        ('{"password": "hunter2x"}', '{"password": "[masked: secret]"}'),
        ('{\\"api_key\\": \\"abcd1234efgh\\"}', '{\\"api_key\\": \\"[masked: secret]\\"}'),
        ("secret: 'correct horse battery'", "secret: '[masked: secret]'"),
        ("x-api-key: abc123def456ghi789", "x-api-key: [masked: secret]"),
        ("mysql --password=hunter2x db", "mysql --password=[masked: secret] db"),
    ],
)
def test_values_given_to_a_secret_name_are_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


AWS_ID = "AK" + "IA" + "ABCDEFGH23456777"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG" + "+bPxRfiCYabcdefghij"


@pytest.mark.parametrize(
    "text",
    [
        f"key {AWS_ID} secret {AWS_SECRET}",
        f"secret {AWS_SECRET}",
        f"{AWS_ID}:{AWS_SECRET}",
        f"[default]\naws_access_key_id = {AWS_ID}\naws_secret_access_key = {AWS_SECRET}",
        f"- id: {AWS_ID}\n  secret: {AWS_SECRET}",
        f'{{"AccessKeyId": "{AWS_ID}", "SecretAccessKey": "{AWS_SECRET}"}}',
        f'{{"pair": ["{AWS_ID}", "{AWS_SECRET}"]}}',
        f"Access key ID,Secret access key\n{AWS_ID},{AWS_SECRET}",
        f"| {AWS_SECRET} | {AWS_ID} |",
        f"<AccessKeyId>{AWS_ID}</AccessKeyId><SecretAccessKey>{AWS_SECRET}</SecretAccessKey>",
        f"aws configure set aws_secret_access_key {AWS_SECRET}",
        f"Secret access key: {AWS_SECRET}",
        f"commit 26a3b10cb2d5007add9127bb0ee0d790a0b87564\n{AWS_ID}\n{AWS_SECRET}",
    ],
)
def test_an_aws_secret_key_is_masked_in_every_shape_of_the_pair(text: str) -> None:
    masked = mask(text)
    assert AWS_SECRET not in masked
    assert AWS_SECRET[:21] not in masked
    assert AWS_ID not in masked


def test_a_commit_beside_an_aws_key_id_stays() -> None:
    commit = "26a3b10cb2d5007add9127bb0ee0d790a0b87564"
    assert mask(f"secret {commit}") == f"secret {commit}"
    assert commit in mask(f"{AWS_ID} leaked in {commit}")


@pytest.mark.parametrize(
    "text",
    [
        "token: str",
        "max_tokens = 4096",
        '"input_tokens": 12345678',
        "password = get_password()",
        "api_key=os.environ['X']",
        "token=$TOKEN",
        "password: string;",
        "the token is the unit of text",
        "primary_key = 'user_id_12345'",
        "keyboard: qwertyuiop12345",
        "http://localhost:8080/x@y",
        "https://host:443/a@b",
        "sk-learn-contrib-examples-for-all",
        "git@github.com:owner/name.git",
        "docker run -u 1000:1000000 image",
        "credentials: include",
        "curl -H 'Authorization: Bearer $TOKEN'",
        "API_KEY=<your-key-here>",
        "8f14e45fceea167a5a36dedd4bea2543 README.md",
        "commit 26a3b10cb2d5007add9127bb0ee0d790a0b87564",
        "tests/unit/domain/test_secrets.py::test_tokens",
        "",
    ],
)
def test_code_prose_and_placeholders_stay(text: str) -> None:
    assert mask(text) is text


def test_a_private_key_without_its_end_is_masked_as_far_as_it_goes() -> None:
    start = "-----BEGIN PRIVATE" + " KEY-----\n"
    masked = mask(f"{start}{'a1B2' * 40}\n! then this")
    assert masked == "[masked: private key]! then this"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "the token is ", "a1B2" * 8, "a1B2" * 50])
def test_a_private_key_without_its_beginning_is_masked(before: str, line_end: str) -> None:
    """Whatever stands on the line before it, however long that line is."""
    end = "-----END PRIVATE" + " KEY-----"
    lines = [before, "c3D4" * 16, "c3D4" * 16, "c3D4", end]
    masked = mask(line_end.join(lines))
    assert "c3D4" not in masked
    assert masked.endswith(f"[masked: private key]{end}")


pieces = st.sampled_from([kind.example for kind in KINDS]) | st.text(max_size=10)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=5).map(" ".join))
def test_masking_never_fails_and_twice_is_once(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


def searched(kind: SecretKind, text: str) -> str:
    """The text in which a kind's needles are searched."""
    if kind.is_one_word:
        return _long_words(text)
    return _lower(text) if kind.ignores_case else text


NEARLY = st.sampled_from(
    [
        *(needle for kind in KINDS for needle in kind.needles),
        *("Token", "api_key", "PASSWORD", "client-ſecret", "TOKEN_İd", "credentıals", "-u me"),
        *("=", ":", " = ", '": "', '\\": \\"', "=>", ":=", "@", "/", "'", " ", "\n", "_", "-", "a"),
        *("a1B2c3D4e5", "me:pa55word", "authorization: ", "Authorization:'", "hunter2x", "host"),
    ]
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(NEARLY | pieces, max_size=8).map("".join))
def test_no_pattern_finds_what_its_needles_miss(text: str) -> None:
    for kind in KINDS:
        is_secret = kind.is_secret or bool
        if any(is_secret(match) for match in kind.pattern.finditer(text)):
            assert kind.may_be_in(searched(kind, text))


@pytest.mark.parametrize(
    ("needle", "text"),
    [
        ("://", "abc://" + "m" * 100 + ":" + "p" * 200 + "@"),
        ("-u ", " -u   '" + "m" * 64 + ":" + "p" * 100),
        ("key", "PASSWORD_" + "İ" * 32 + '\\"  =' + "1a" * 8),
        ("key", "credentials-" + "x" * 32 + "'\t => " + "abcdef"),
        ("authorization", "Authorization\\\\\\\\\":    'basic    " + "a" * 8),
    ],
)
def test_the_longest_way_from_a_needle_to_what_it_needs_is_not_too_long(
    needle: str, text: str
) -> None:
    kinds = [kind for kind in KINDS if needle in kind.needles and kind.pattern.search(text)]
    assert kinds
    assert all(kind.may_be_in(searched(kind, text)) for kind in kinds)


def secret_of(kind: SecretKind) -> str:
    match = kind.pattern.search(kind.example)
    assert match is not None
    return match["secret"] if "secret" in kind.pattern.groupindex else match[0]


TOKEN_IN_SENTENCE = next(kind for kind in KINDS if kind.example.startswith("the token is"))
KEY_WITHOUT_BEGINNING = next(kind for kind in KINDS if kind.example.startswith("a1B2c3D4e5a1B2c3"))


# The sentence ends like a line of the key, so a single mask covers both.
@example([TOKEN_IN_SENTENCE, KEY_WITHOUT_BEGINNING])
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
def test_several_secrets_in_one_text_are_all_masked(kinds: list[SecretKind]) -> None:
    masked = mask("\n".join(kind.example for kind in kinds))
    assert [kind.name for kind in kinds if secret_of(kind) in masked] == []


def test_there_are_enough_samples() -> None:
    assert len(SAMPLES) >= 113
    assert len({sample.name for sample in SAMPLES}) == len(SAMPLES)
    assert len(HARMLESS) >= 50


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_realistic_secret_is_masked(sample: Sample) -> None:
    for text in (sample.text, f"before\n{sample.text}\nafter"):
        masked = mask(text)
        assert "[masked: " in masked
        half = len(sample.secret) // 2
        for part in (sample.secret, sample.secret[:half], sample.secret[half:]):
            assert part not in masked


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_realistic_secret_is_masked_in_json(sample: Sample) -> None:
    """As a value, in a value, and under the key that names it."""
    for value in ({"command": sample.text}, ["a", {"b": [sample.text]}], json.dumps([sample.text])):
        output = json.dumps(masked_json(json.dumps(value)), ensure_ascii=False)
        assert "[masked: " in output
        assert json.dumps(sample.secret, ensure_ascii=False)[1:-1] not in output


def test_a_value_is_masked_by_its_key_or_its_neighbour() -> None:
    assert masked_json('{"password": "hunter22"}') == {"password": "[masked: secret]"}
    assert masked_json('{"a": [{"apiKey": "a1B2c3D4e5f6g7"}]}') == {
        "a": [{"apiKey": "[masked: secret]"}]
    }
    assert AWS_SECRET not in json.dumps(masked_json(json.dumps([AWS_ID, AWS_SECRET])))
    assert masked_json("no JSON, password=hunter22") == "no JSON, password=[masked: secret]"
    assert masked_json('{"tokens": 5, "password": null, "key": true}') == {
        "tokens": 5,
        "password": None,
        "key": True,
    }
    assert masked_json(None) is None


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_text_stays(text: str) -> None:
    assert mask(text) is text
    assert masked_json(json.dumps({"text": text})) == {"text": text}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.is_one_word])
def test_a_token_is_one_long_word(kind: SecretKind) -> None:
    """Only long words are searched for tokens, so none may be shorter, or have a space."""
    match = kind.pattern.search(kind.example)
    assert match is not None
    shortest = match[0]
    while (cut := kind.pattern.fullmatch(shortest[:-1])) is not None:
        shortest = cut[0]
    assert len(shortest) >= SHORTEST_WORD
    assert shortest.split() == [shortest]


HOSTILE = [
    *("a", "-", "_", "=", "password", "token:", "key=", "://a:", "Authorization: ", "cookie a=b;"),
    *("data:\n  a: b\n", "kind: Secret\ndata:\n", "login -p ", "mysql ", "echo a | ", "pwd="),
    *("-----BEGIN PRIVATE" + " KEY-----\n", "abcdefghijklmnop\n", "sk-", "MT", "s.", "eyJ", "EAA"),
    *('\\"', "password is ", "Private-Lines: 1\n", '"kty" "d":"', "token x: ", "-u a:", "secret "),
    "abcdefghijklmnop\r\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_linear_time(piece: str) -> None:
    """A pattern that took quadratic time would run into the test's timeout."""
    text = piece * (200_000 // len(piece)) + " PRIVATE" + " KEY"
    mask(text)
