"""Which model a name means."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic_ai.models import KnownModelName

from navi.base.errors import AgentFailed
from navi.live.agents.builtin.models import (
    DEFAULT_ANTHROPIC_MODEL,
    DEFAULT_OPENAI_MODEL,
    NO_KEY,
    default_model,
    endpoint_of,
)

KEYS = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key"}


@pytest.mark.parametrize(
    ("environment", "setting", "model"),
    [
        (KEYS, "openai:mine", "openai:mine"),
        (KEYS, None, DEFAULT_ANTHROPIC_MODEL),
        ({"OPENAI_API_KEY": "o-key"}, None, DEFAULT_OPENAI_MODEL),
        ({"OPENAI_API_KEY": ""}, "", None),
        ({}, None, None),
    ],
)
def test_the_default_model_is_the_setting_or_one_whose_key_is_at_hand(environment, setting, model):
    assert default_model(environment, setting) == model


def test_the_default_models_exist():
    names = get_args(KnownModelName.__value__)
    assert DEFAULT_ANTHROPIC_MODEL in names
    assert DEFAULT_OPENAI_MODEL in names


@pytest.mark.parametrize("spec", ["", "claude", "anthropic:", "anthropic: ", "martian:x", ":x"])
def test_a_name_that_means_no_model_is_refused_with_a_hint(spec):
    with pytest.raises(AgentFailed, match="unknown model") as refusal:
        endpoint_of(spec, KEYS, {}, {})
    assert "anthropic:NAME" in refusal.value.hint


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_missing_key_is_named(provider):
    with pytest.raises(AgentFailed, match="needs an API key") as refusal:
        endpoint_of(f"{provider}:m", {}, {}, {})
    assert f"{provider.upper()}_API_KEY" in refusal.value.hint


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_server_of_ones_own_needs_no_key(provider):
    environment = {f"{provider.upper()}_BASE_URL": "http://localhost:11434/v1"}
    endpoint = endpoint_of(f"{provider}:llama3:8b", environment, {}, {})
    assert endpoint.base_url == "http://localhost:11434/v1"
    assert (endpoint.model, endpoint.api_key) == ("llama3:8b", NO_KEY)


def test_arguments_win_over_the_environment():
    environment = {"OPENAI_BASE_URL": "http://there/v1", **KEYS}
    urls, keys = {"openai": "http://here/v1"}, {"openai": "mine"}
    endpoint = endpoint_of("openai:m", environment, urls, keys)
    assert (endpoint.base_url, endpoint.api_key) == ("http://here/v1", "mine")


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x", "http://", "http://x:port/v1"])
def test_a_base_url_that_is_none_is_refused(url):
    with pytest.raises(AgentFailed, match="not a web address"):
        endpoint_of("openai:m", {"OPENAI_BASE_URL": url}, {}, {})


@pytest.mark.parametrize(
    ("spec", "url", "uses_responses_api"),
    [
        ("openai:m", "https://api.openai.com/v1", True),
        ("openai:m", "http://localhost:11434/v1", False),
        ("openai-responses:m", "http://localhost:11434/v1", True),
        ("openai-chat:m", "https://api.openai.com/v1", False),
    ],
)
def test_other_servers_are_spoken_to_in_the_api_they_know(spec, url, uses_responses_api):
    endpoint = endpoint_of(spec, KEYS, {"openai": url}, {})
    assert endpoint.uses_responses_api is uses_responses_api


def test_what_is_shown_of_an_endpoint_has_no_secrets():
    url = "https://me:password@gateway.example:8443/v1?token=hush"
    endpoint = endpoint_of("openai:m", KEYS, {"openai": url}, {})
    assert endpoint.address == "https://gateway.example:8443"
    assert "o-key" not in repr(endpoint)
    assert "password" not in repr(endpoint)
