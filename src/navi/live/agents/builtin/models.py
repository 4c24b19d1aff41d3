"""Model names, and the address and key that each one needs.

anthropic:NAME         Anthropic's Messages API, or the same API of a server at ANTHROPIC_BASE_URL
openai:NAME            OpenAI's Responses API; with another base URL (Ollama, vLLM, a gateway)
                       the Chat Completions API, which compatible servers offer
openai-chat:NAME       OpenAI's Chat Completions API, whatever the base URL
openai-responses:NAME  OpenAI's Responses API, whatever the base URL
scripted               follows the script in the prompt (see scripted_model.py)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from navi.base.errors import AgentFailed

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

SCRIPTED = "scripted"
MODEL_FORMS = "use anthropic:NAME, openai:NAME or scripted"
DEFAULT_ANTHROPIC_MODEL = "anthropic:claude-sonnet-4-5"
DEFAULT_OPENAI_MODEL = "openai:gpt-5.2"

NO_KEY = "no-key"
"""Sent to people's own servers, because the client libraries insist on a key."""

HINT_LENGTH = 4
SHORTEST_KEY_WITH_HINT = 20
"""The end of a shorter key would give away too much of it."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    title: str
    base_url: str

    @property
    def key_variable(self) -> str:
        return f"{self.name.upper()}_API_KEY"

    @property
    def url_variable(self) -> str:
        return f"{self.name.upper()}_BASE_URL"


ANTHROPIC = Provider("anthropic", "Anthropic", "https://api.anthropic.com")
OPENAI = Provider("openai", "OpenAI", "https://api.openai.com/v1")

_PROVIDERS = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "openai-responses": OPENAI,
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model with its address and key."""

    spec: str
    """The model's name in settings, such as `openai-chat:NAME`."""
    provider: Provider
    model: str
    """The provider's own name for it."""
    base_url: str = field(repr=False)
    api_key: str = field(repr=False)

    @property
    def is_official(self) -> bool:
        return urlsplit(self.base_url).hostname == urlsplit(self.provider.base_url).hostname

    @property
    def address(self) -> str:
        """The base URL without its path and any password, so it is safe to show."""
        url = urlsplit(self.base_url)
        port = f":{url.port}" if url.port else ""
        return f"{url.scheme}://{url.hostname}{port}"

    @property
    def title(self) -> str:
        return self.provider.title if self.is_official else self.address

    @property
    def account(self) -> str:
        """The account that the key belongs to, with the key's end, as providers show it."""
        where = self.provider.name if self.is_official else self.address
        is_long = len(self.api_key) >= SHORTEST_KEY_WITH_HINT
        return f"{where}:…{self.api_key[-HINT_LENGTH:]}" if is_long else where

    @property
    def uses_responses_api(self) -> bool:
        if self.spec.startswith("openai:"):
            return self.is_official
        return self.spec.startswith("openai-responses:")


def default_model(environment: Mapping[str, str], setting: str | None) -> str | None:
    """The model for sessions that name none: the setting, or one whose key is set, if any."""
    if setting:
        return setting
    if environment.get(ANTHROPIC.key_variable):
        return DEFAULT_ANTHROPIC_MODEL
    if environment.get(OPENAI.key_variable):
        return DEFAULT_OPENAI_MODEL
    return None


def is_model_name(text: str) -> bool:
    """Whether this names a model of the built-in agent. Other agents name theirs differently."""
    return text == SCRIPTED or text.partition(":")[0] in _PROVIDERS


def suggested_models(environment: Mapping[str, str], setting: str | None) -> list[str]:
    """The models that need no further set-up, the default first; none if there is no default."""
    candidates = [
        setting,
        DEFAULT_ANTHROPIC_MODEL if environment.get(ANTHROPIC.key_variable) else None,
        DEFAULT_OPENAI_MODEL if environment.get(OPENAI.key_variable) else None,
    ]
    return list(dict.fromkeys(each for each in candidates if each))


def endpoint_of(
    spec: str,
    environment: Mapping[str, str],
    base_urls: Mapping[str, str],
    api_keys: Mapping[str, str],
) -> Endpoint:
    """The model's endpoint. `base_urls` and `api_keys` override the environment."""
    kind, _, model = spec.partition(":")
    provider = _PROVIDERS.get(kind)
    if provider is None or not model.strip():
        raise AgentFailed(f"unknown model {spec!r}", hint=MODEL_FORMS)
    base_url = base_urls.get(provider.name) or environment.get(provider.url_variable)
    api_key = api_keys.get(provider.name) or environment.get(provider.key_variable)
    if not api_key and not base_url:
        raise AgentFailed(
            f"{spec} needs an API key from {provider.title}",
            hint=f"set {provider.key_variable}, or {provider.url_variable} for your own server",
        )
    base_url = (base_url or provider.base_url).strip()
    if not _is_web_address(base_url):
        raise AgentFailed(
            f"the base URL of {provider.title} is not a web address",
            hint=f"set {provider.url_variable} to something like {provider.base_url}",
        )
    return Endpoint(spec, provider, model.strip(), base_url, api_key or NO_KEY)


def build_model(endpoint: Endpoint, client: AsyncClient) -> Model:
    if endpoint.provider is ANTHROPIC:
        return _anthropic_model(endpoint, client)
    return _openai_model(endpoint, client)


def model_settings(endpoint: Endpoint, *, thinking: bool, request_timeout: float) -> ModelSettings:
    """The settings of every request."""
    if endpoint.provider is ANTHROPIC:
        # Without caching, Anthropic bills the whole conversation again at every step.
        return {"timeout": request_timeout, "cache": True, "thinking": thinking}
    # OpenAI's models decide for themselves whether to think. Compatible servers may refuse the
    # setting for models that can't.
    return {"timeout": request_timeout}


def _anthropic_model(endpoint: Endpoint, client: AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(
        api_key=endpoint.api_key, base_url=endpoint.base_url, http_client=client
    )
    return AnthropicModel(endpoint.model, provider=provider)


def _openai_model(endpoint: Endpoint, client: AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider: OpenAIProvider | OpenAICompatibleProvider
    if endpoint.is_official:
        provider = OpenAIProvider(
            api_key=endpoint.api_key, base_url=endpoint.base_url, http_client=client
        )
    else:
        provider = OpenAICompatibleProvider(
            "openai-compatible",
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            http_client=client,
        )
    if endpoint.uses_responses_api:
        return OpenAIResponsesModel(endpoint.model, provider=provider)
    return OpenAIChatModel(endpoint.model, provider=provider)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # for instance a port that is not a number
        return False
