"""Keys and tokens recognized by their form, usually a prefix, wherever they appear.

The examples are assembled from parts so that no scanner mistakes one for a real key.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from navi.base.secrets.secret_kind import HEX, SAMPLE, UPPER, SecretKind

_CHARACTER = r"[A-Za-z0-9_-]"
_END = rf"(?!{_CHARACTER})"
# Random strings mix digits and letters of both cases; words and names seldom do.
_HAS_DIGIT = rf"(?={_CHARACTER}{{0,200}}[0-9])"
_IS_MIXED = (
    rf"(?={_CHARACTER}{{0,60}}[0-9])(?={_CHARACTER}{{0,60}}[A-Z])(?={_CHARACTER}{{0,60}}[a-z])"
)
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID_EXAMPLE = "0a1b2c3d-4e5f-6789-0a1b-2c3d4e5f6789"


def _token(
    name: str,
    prefixes: str,
    body: str,
    sample: str,
    could_match_at: Callable[[str, int, int], bool] | None = None,
) -> SecretKind:
    """A token: one of `prefixes`, then something that `body` matches, such as `sample`."""
    any_prefix = prefixes.replace(".", r"\.").replace("$", r"\$").replace(" ", "|")
    return SecretKind(
        name,
        tuple(prefixes.split()),
        rf"(?<![A-Za-z0-9_-])(?:{any_prefix}){body}",
        prefixes.split()[0] + sample,
        is_one_word=True,
        begins_words=True,
        could_match_at=could_match_at or _begins_a_word,
    )


def _begins_a_word(text: str, start: int, end: int) -> bool:
    """False for `sk-` in `task-1`."""
    before = text[start - 1 : start]
    return not ((before.isascii() and before.isalnum()) or before in ("_", "-"))


def _is_followed_by(character: str, distance: int) -> Callable[[str, int, int], bool]:
    """For short prefixes: any `distance` characters and then `character` must come next."""

    def could_match_at(text: str, start: int, end: int) -> bool:
        return text[end + distance : end + distance + 1] == character

    return could_match_at


def _is_followed_by_word(length: int) -> Callable[[str, int, int], bool]:
    """For a short prefix: `length` letters and digits must follow it."""

    def could_match_at(text: str, start: int, end: int) -> bool:
        return text[end : end + length].isalnum() and _begins_a_word(text, start, end)

    return could_match_at


# An AWS secret access key has no prefix: forty characters of both cases, with a digit or
# punctuation. Only a key id or the word `secret` nearby distinguishes it from other text.
_AWS_KEY_ID_PATTERN = (
    r"(?<![A-Za-z0-9_-])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|masked: AWS key id"
)
_AWS_KEY_ID_PREFIXES = ("AKIA", "ASIA", "ABIA", "ACCA")
_AWS_SECRET = (
    r"(?<![A-Za-z0-9/+_-])(?=[A-Z0-9/+]*+[a-z])(?=[a-z0-9/+]*+[A-Z])(?=[A-Za-z]*+[0-9/+])"
    r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+_-])"
)
_AWS_EXAMPLE = "wJalrXUtnFEMI/K7MDENG" + "+bPxRfiCY" + SAMPLE[:10]


def _is_near_an_aws_key_id(match: re.Match[str]) -> bool:
    near = match.string[max(0, match.start() - 220) : match.end() + 220]
    return re.search(_AWS_KEY_ID_PATTERN, near) is not None


def _precedes_a_long_word(text: str, start: int, end: int) -> bool:
    """False for `secret` in `a secret place`."""
    return any(len(word) >= 40 for word in text[end : end + 70].split())


def _follows_hex(text: str, start: int, end: int) -> bool:
    """False for `-us` in `en-us`."""
    return text[end : end + 1].isdigit() and text[start - 32 : start].isalnum()


# The order matters only where one pattern would match part of another's secret.
TOKENS = [
    SecretKind(
        "AWS secret key",
        (*_AWS_KEY_ID_PREFIXES, "masked: AWS key id"),
        _AWS_SECRET,
        "AK" + "IA" + "ABCDEFGH23456777," + _AWS_EXAMPLE,
        is_secret=_is_near_an_aws_key_id,
    ),
    SecretKind(
        "AWS secret key",
        ("secret",),
        rf"(?i:secret)(?i:[_ -]?access)?(?i:[_ -]?key)?[\s\"'`,;:=<>|\\]{{1,8}}(?:is |set )?"
        rf"{_AWS_SECRET}",
        "the secret is " + _AWS_EXAMPLE,
        ignores_case=True,
        could_match_at=_precedes_a_long_word,
    ),
    _token(
        "AWS key id",
        " ".join(_AWS_KEY_ID_PREFIXES),
        r"[A-Z0-9]{16}(?![A-Za-z0-9])",
        "ABCDEFGH23456777",
    ),
    # A name in code that starts with `navi_` can be as long as a token, but seldom mixes digits
    # with letters of both cases.
    _token(
        "Navi token",
        "navi_session_ navi_user_ navi_",
        rf"{_IS_MIXED}{_CHARACTER}{{43}}{_END}",
        SAMPLE[:43],
    ),
    _token("Anthropic key", "sk-ant-", rf"{_CHARACTER}{{16,}}+", "api03-" + SAMPLE[:80]),
    _token("OpenRouter key", "sk-or-", rf"{_CHARACTER}{{16,}}+", "v1-" + HEX[:64]),
    _token(
        "OpenAI key",
        "sk-",
        # A digit tells a key from a name such as sk-learn-contrib-examples.
        rf"{_HAS_DIGIT}{_CHARACTER}{{20,}}+",
        "proj-" + SAMPLE[:80],
    ),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}+", SAMPLE[:36]),
    _token("GitHub token", "github_pat_", r"[A-Za-z0-9_]{20,}+", SAMPLE[:60]),
    _token(
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-",
        r"[A-Za-z0-9_.-]{16,}+",
        SAMPLE[:20],
    ),
    _token("Bitbucket password", "ATBB", rf"{_HAS_DIGIT}[A-Za-z0-9]{{28,}}+", SAMPLE[:32]),
    _token("Atlassian token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=.-]{20,}+", SAMPLE[:180]),
    _token("Google API key", "AIza", rf"{_CHARACTER}{{35}}", SAMPLE[:35]),
    _token("Google client secret", "GOCSPX-", rf"{_CHARACTER}{{20,}}+", SAMPLE[:28]),
    _token("Google access token", "ya29.", r"[A-Za-z0-9_.-]{20,}+", SAMPLE[:80]),
    _token("Google refresh token", "1//0", rf"{_CHARACTER}{{30,}}+", SAMPLE[:60]),
    SecretKind(
        "Firebase server key",
        (":APA91b",),
        rf"(?<![A-Za-z0-9_-]){_CHARACTER}{{11}}:APA91b{_CHARACTER}{{100,}}+",
        "AA" + "AAa1B2c3D" + ":APA" + "91b" + SAMPLE[:134],
        is_one_word=True,
    ),
    _token("Slack token", "xoxd-", r"[A-Za-z0-9%+/=._-]{20,}+", SAMPLE[:60] + "%2F"),
    _token(
        "Slack token",
        "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9.-]{11,}+",
        "123456789012-" + SAMPLE[:24],
    ),
    SecretKind(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,}+)",
        "https://hooks.slack" + ".com/services/" + "T0000/B0000/" + SAMPLE[:24],
        is_one_word=True,
    ),
    SecretKind(
        "Discord webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/(?P<secret>[\w-]{30,}+)",
        "https://discord" + ".com/api/webhooks/1234567890/" + SAMPLE[:68],
        is_one_word=True,
    ),
    # Three parts separated by dots: a numeric id in base64, which always starts with one of these
    # prefixes, then a time, then a signature.
    _token(
        "Discord token",
        "MT Mj Mz ND NT Nj Nz OD OT",
        rf"{_CHARACTER}{{20,26}}\.{_CHARACTER}{{6}}\.{_CHARACTER}{{27,38}}{_END}",
        SAMPLE[:24] + ".Ga1B2c." + SAMPLE[:38],
        lambda text, start, end: "." in text[end + 20 : end + 27],
    ),
    _token(
        "Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        r"[A-Za-z0-9]{10,}+",
        SAMPLE[:24],
    ),
    _token("ElevenLabs key", "sk_", r"[0-9a-f]{40,}+", HEX[:48]),
    _token("Square token", "sq0atp- sq0csp-", rf"{_CHARACTER}{{20,}}+", SAMPLE[:22]),
    SecretKind(
        "Facebook or Square token",
        ("EAA",),
        # Not inside a base64 image.
        rf"(?<![A-Za-z0-9+/=_-])EAA{_HAS_DIGIT}{_CHARACTER}{{56,}}+(?![+/])",
        "EA" + "AB" + SAMPLE[:120],
        is_one_word=True,
        could_match_at=_begins_a_word,
    ),
    SecretKind(
        "PayPal token",
        ("access_token$",),
        r"access_token\$(?:production|sandbox)\$[a-z0-9$]{20,}+",
        "access" + "_token$production$" + HEX[:16] + "$" + HEX[:32],
        is_one_word=True,
    ),
    _token(
        "Plaid token",
        "access-sandbox- access-production- access-development-",
        _UUID,
        _UUID_EXAMPLE,
    ),
    _token("Flutterwave key", "FLWSECK", r"[A-Za-z0-9_-]{16,}+", "-" + HEX[:32] + "-X"),
    _token("EasyPost key", "EZAK EZTK", r"[A-Za-z0-9]{50,}+", SAMPLE[:54]),
    _token("Duffel token", "duffel_live_ duffel_test_", rf"{_CHARACTER}{{30,}}+", SAMPLE[:43]),
    _token("Shippo token", "shippo_live_ shippo_test_", r"[0-9a-f]{30,}+", HEX[:40]),
    _token("npm token", "npm_", r"[A-Za-z0-9]{30,}+", SAMPLE[:36]),
    _token("PyPI token", "pypi-", rf"{_CHARACTER}{{40,}}+", "AgEI" + SAMPLE[:100]),
    _token("RubyGems key", "rubygems_", r"[0-9a-f]{40,}+", HEX[:48]),
    _token(
        "NuGet key", "oy2", rf"{_HAS_DIGIT}[a-z0-9]{{43}}{_END}", HEX[:43], _is_followed_by_word(43)
    ),
    _token(
        "crates.io token",
        "cio",
        rf"{_IS_MIXED}[A-Za-z0-9]{{32}}{_END}",
        SAMPLE[:32],
        _is_followed_by_word(32),
    ),
    _token("Clojars token", "CLOJARS_", r"[a-z0-9]{40,}+", HEX[:60]),
    _token("Artifactory key", "AKCp", r"[A-Za-z0-9]{40,}+", SAMPLE[:69]),
    _token("Artifactory token", "cmVmdGtuOj", r"[A-Za-z0-9]{30,}+", SAMPLE[:54]),
    _token("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}+", SAMPLE[:34]),
    _token("Groq key", "gsk_", r"[A-Za-z0-9]{40,}+", SAMPLE[:52]),
    _token("xAI key", "xai-", r"[A-Za-z0-9]{40,}+", SAMPLE[:80]),
    _token("Perplexity key", "pplx-", r"[A-Za-z0-9]{30,}+", SAMPLE[:48]),
    _token("Replicate token", "r8_", r"[A-Za-z0-9]{30,}+", SAMPLE[:37]),
    _token("NVIDIA key", "nvapi-", rf"{_CHARACTER}{{20,}}+", SAMPLE[:64]),
    _token("Tavily key", "tvly-", rf"{_HAS_DIGIT}{_CHARACTER}{{20,}}+", "dev-" + SAMPLE[:32]),
    _token("Firecrawl key", "fc-", rf"[0-9a-f]{{32}}{_END}", HEX[:32]),
    _token("Jina key", "jina_", rf"{_HAS_DIGIT}{_CHARACTER}{{40,}}+", HEX[:32] + SAMPLE[:28]),
    _token("Pinecone key", "pcsk_", r"[A-Za-z0-9_]{40,}+", SAMPLE[:70]),
    _token("Fireworks key", "fw_", rf"{_IS_MIXED}[A-Za-z0-9]{{20,}}+", SAMPLE[:24]),
    _token("Together key", "tgp_v1_", rf"{_CHARACTER}{{30,}}+", SAMPLE[:43]),
    _token(
        "LangSmith key",
        "lsv2_pt_ lsv2_sk_",
        r"[0-9a-f]{32}_[0-9a-f]{10}",
        HEX[:32] + "_" + HEX[:10],
    ),
    _token("E2B key", "e2b_", r"[0-9a-f]{40}", HEX[:40]),
    _token("Brave key", "BSA", rf"{_IS_MIXED}{_CHARACTER}{{28}}{_END}", SAMPLE[:28]),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}+", HEX[:64]),
    _token("Fly.io token", "fo1_", rf"{_CHARACTER}{{40,}}+", SAMPLE[:43]),
    _token(
        "Fly.io token",
        "fm1r_ fm1a_ fm2_",
        r"[A-Za-z0-9+/=,_]{40,}+",
        SAMPLE[:100] + "==",
    ),
    _token("Render key", "rnd_", rf"{_HAS_DIGIT}[A-Za-z0-9]{{20,}}+", SAMPLE[:28]),
    _token("Heroku key", "HRKU-", rf"{_CHARACTER}{{30,}}+", "AA" + SAMPLE[:58]),
    _token("Netlify token", "nfp_", rf"{_CHARACTER}{{30,}}+", SAMPLE[:36]),
    _token("Neon key", "napi_", r"[a-z0-9]{40,}+", HEX[:64]),
    _token(
        "PlanetScale token",
        "pscale_tkn_ pscale_pw_ pscale_oauth_",
        r"[A-Za-z0-9_.=-]{30,}+",
        SAMPLE[:43],
    ),
    _token("Supabase key", "sbp_ sb_secret_", r"[A-Za-z0-9_]{20,}+", HEX[:40]),
    _token("Databricks token", "dapi", r"[0-9a-f]{32}", HEX[:32]),
    _token(
        "Cloudflare origin key",
        "v1.0-",
        r"[0-9a-f]{24}-[0-9a-f]{100,}+",
        HEX[:24] + "-" + HEX[:146],
    ),
    _token("Pulumi token", "pul-", rf"[0-9a-f]{{40}}{_END}", HEX[:40]),
    SecretKind(
        "Terraform token",
        (".atlasv1.",),
        rf"(?<![A-Za-z0-9])[A-Za-z0-9]{{14}}\.atlasv1\.{_CHARACTER}{{40,}}+",
        SAMPLE[:14] + ".atlas" + "v1." + SAMPLE[:67],
        is_one_word=True,
    ),
    _token(
        "Doppler token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"[A-Za-z0-9._-]{30,}+",
        SAMPLE[:43],
    ),
    _token("Docker token", "dckr_pat_ dckr_oat_", rf"{_CHARACTER}{{20,}}+", SAMPLE[:27]),
    _token("Vault token", "hvs. hvb. hvr.", rf"{_CHARACTER}{{20,}}+", SAMPLE[:40]),
    _token(
        "Vault token",
        "s.",
        rf"{_IS_MIXED}[A-Za-z0-9]{{24}}(?![A-Za-z0-9_.(-])",
        SAMPLE[:24],
        _is_followed_by_word(24),
    ),
    _token("OpenShift token", "sha256~", rf"{_CHARACTER}{{43}}", SAMPLE[:43]),
    _token("Buildkite token", "bkua_", r"[0-9a-f]{40}", HEX[:40]),
    _token(
        "CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{30,}+", SAMPLE[:22] + "_" + HEX[:40]
    ),
    _token("SonarQube token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}", HEX[:40]),
    _token("Prefect key", "pnu_ pnb_", r"[A-Za-z0-9]{36}", SAMPLE[:36]),
    _token("Sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9_+/=]{30,}+", SAMPLE[:80]),
    _token("Grafana token", "glsa_ glc_", r"[A-Za-z0-9_+/=]{30,}+", SAMPLE[:32] + "_" + HEX[:8]),
    _token("Grafana key", "eyJrIjoi", r"[A-Za-z0-9_+/=-]{30,}+", SAMPLE[:80]),
    _token("New Relic key", "NRAK- NRII- NRAA- NRRA- NRIQ-", rf"{_CHARACTER}{{20,}}+", UPPER[:27]),
    SecretKind(
        "New Relic key",
        ("NRAL",),
        r"(?<![A-Za-z0-9])[0-9a-zA-Z]{36}NRAL(?![A-Za-z0-9])",
        HEX[:36] + "NR" + "AL",
        is_one_word=True,
    ),
    _token(
        "Dynatrace token",
        "dt0c01. dt0s01.",
        r"[A-Z0-9]{24}\.[A-Z0-9]{64}",
        UPPER[:24] + "." + UPPER[:64],
    ),
    _token("PostHog key", "phx_", r"[A-Za-z0-9]{30,}+", SAMPLE[:43]),
    _token("LaunchDarkly key", "api- sdk-", _UUID, _UUID_EXAMPLE, _is_followed_by("-", 8)),
    _token(
        "SendGrid key",
        "SG.",
        rf"{_CHARACTER}{{16,}}+\.{_CHARACTER}{{16,}}+",
        SAMPLE[:22] + "." + SAMPLE[:43],
    ),
    _token(
        "Brevo key", "xkeysib- xsmtpsib-", rf"{_CHARACTER}{{30,}}+", HEX[:64] + "-" + SAMPLE[:16]
    ),
    _token("Mailgun key", "key-", rf"[0-9a-f]{{32}}{_END}", HEX[:32], _is_followed_by_word(32)),
    SecretKind(
        "Mailchimp key",
        ("-us",),
        r"(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])",
        HEX[:32] + "-u" + "s14",
        is_one_word=True,
        could_match_at=_follows_hex,
    ),
    _token(
        "Resend key", "re_", rf"{_IS_MIXED}[A-Za-z0-9_]{{28,}}+", SAMPLE[:8] + "_" + SAMPLE[:24]
    ),
    _token("Twilio key", "SK", rf"[0-9a-f]{{32}}{_END}", HEX[:32], _is_followed_by_word(32)),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9A-Fa-f]{32}", HEX[:32]),
    _token("HubSpot token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID, _UUID_EXAMPLE),
    _token("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}+", SAMPLE[:40]),
    _token("Notion token", "ntn_ secret_", r"[A-Za-z0-9]{40,}+", SAMPLE[:46]),
    _token("Figma token", "figd_", rf"{_CHARACTER}{{30,}}+", SAMPLE[:40]),
    _token(
        "Airtable token",
        "pat",
        r"[A-Za-z0-9]{14}\.[0-9a-f]{64}",
        SAMPLE[:14] + "." + HEX[:64],
        _is_followed_by(".", 14),
    ),
    _token("Contentful token", "CFPAT-", rf"{_CHARACTER}{{30,}}+", SAMPLE[:43]),
    _token("Postman key", "PMAK-", rf"{_CHARACTER}{{30,}}+", HEX[:24] + "-" + HEX[:34]),
    _token("ReadMe key", "rdme_", r"[a-z0-9]{60,}+", HEX[:70]),
    _token("Typeform token", "tfp_", r"[A-Za-z0-9_.=-]{40,}+", SAMPLE[:59]),
    _token("Frame.io token", "fio-u-", rf"{_CHARACTER}{{40,}}+", SAMPLE[:64]),
    _token("Adafruit key", "aio_", rf"[A-Za-z0-9]{{28}}{_END}", SAMPLE[:28]),
    _token("Dropbox token", "sl.", r"[A-Za-z0-9_.-]{60,}+", SAMPLE[:130]),
    _token("Tailscale key", "tskey-", rf"{_CHARACTER}{{20,}}+", "auth-" + SAMPLE[:30]),
    _token("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}+", "QPZRY9X8GF" * 5),
    _token("1Password token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{60,}+", SAMPLE[:150]),
    _token(
        "1Password key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "ABC234-DEF567-GHJ89" + "-KLM23-NPQ45-RST67",
        _is_followed_by("-", 6),
    ),
    _token("Alibaba key id", "LTAI", rf"{_IS_MIXED}[A-Za-z0-9]{{12,24}}{_END}", "5t" + SAMPLE[:18]),
    _token("Tencent key id", "AKID", rf"{_IS_MIXED}[A-Za-z0-9]{{32}}{_END}", SAMPLE[:32]),
    _token("Yandex key", "AQVN", rf"{_CHARACTER}{{35,38}}{_END}", SAMPLE[:36]),
    SecretKind(
        "Azure client secret",
        ("7Q~", "8Q~"),
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
        "a1B8" + "Q~" + SAMPLE[:34],
        is_one_word=True,
    ),
    SecretKind(
        "Azure DevOps token",
        ("AZDO",),
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])",
        SAMPLE[:76] + "AZ" + "DOa1B2",
        is_one_word=True,
    ),
    SecretKind(
        "Telegram token",
        (":AA",),
        r"(?<![A-Za-z0-9_])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])",
        "123456789" + ":A" + "A" + SAMPLE[:33],
        is_one_word=True,
    ),
    SecretKind(
        "JSON web token",
        ("eyJ",),
        rf"(?<![A-Za-z0-9_.-])eyJ{_CHARACTER}{{8,}}+\.eyJ{_CHARACTER}{{8,}}+\.{_CHARACTER}{{8,}}+",
        "ey" + "J" + SAMPLE[:20] + ".ey" + "J" + SAMPLE[:40] + "." + SAMPLE[:43],
        is_one_word=True,
    ),
]
