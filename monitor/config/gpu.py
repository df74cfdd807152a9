"""The section ``gpus``: who tells of this machine's GPUs, and what is known of models on them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from monitor.config.problems import wrong
from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.values import Duration, EnvName, FileName, Flag, HttpUrl, Label, Text, in_clear

LEAST_SECONDS, MOST_SECONDS = 1.0, 300.0
_Size = Annotated[int, Field(strict=True, ge=1, le=4096)]
_Index = Annotated[int, Field(strict=True, ge=0, le=4095)]


def _interval(seconds: float) -> float:
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise wrong("is not between 1s and 5m", "write 15s")
    return seconds


class KvPools(Section):
    """The model that nodes serve, so that tokens of their KV pools are told as bytes."""

    target: Label | None = Field(
        default=None, description="Of the nodes of this target. Left out, of any."
    )
    node: Text | None = Field(
        default=None,
        description="Of this node alone, by its name: host and port, or what it was given.",
    )
    model_config_file: FileName | None = Field(
        default=None,
        alias="model_config",
        description="The model's `config.json`, a copy of it, or a part that has its shape.",
        examples=["./glm/config.json"],
    )
    bytes_per_token: Annotated[float, Field(strict=True, gt=0, le=1e9)] | None = Field(
        default=None,
        description="Your own figure for each GPU, where no formula of ours knows the model.",
    )
    tp_size: _Size | None = Field(
        default=None, description="Tensor parallel size. Left out, what the node says."
    )
    pp_size: _Size | None = Field(default=None, description="Pipeline parallel size, likewise.")
    dp_size: _Size | None = Field(default=None, description="Data parallel size, likewise.")
    dp_attention: Flag = Field(
        default=False,
        description="Data-parallel groups share the GPUs of `tp_size`, also if no node says so.",
    )
    kv_cache_dtype: Label | None = Field(
        default=None, description="Type of its KV cache. Left out, what the node says."
    )
    gpus: tuple[_Index, ...] = Field(
        (), description="Indexes of the GPUs it uses. Left out, any of this machine."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.model_config_file is None and self.bytes_per_token is None:
            raise wrong("says nothing of a model", "add model_config, or bytes_per_token")
        return self


class Gpus(Section):
    """Who tells of the GPUs of the machine that the daemon, or the exporter, runs on."""

    source: Literal["off", "nvml", "dcgm"] = Field(
        default="off",
        description=(
            "`nvml` asks the driver itself (needs `davylamp[gpu]`), `dcgm` a DCGM exporter, `off` "
            "nobody."
        ),
    )
    interval_seconds: Annotated[Duration, AfterValidator(_interval)] = Field(
        default=15.0, alias="interval", description="Time between readings, 1s to 5m."
    )
    dcgm_url: HttpUrl | None = Field(
        default=None,
        description="The metrics of a DCGM exporter of this machine.",
        examples=["http://127.0.0.1:9400/metrics"],
    )
    token_env: EnvName | None = Field(
        default=None, description="Environment variable that holds its token."
    )
    token_file: FileName | None = Field(default=None, description="File that holds its token.")
    pools: tuple[KvPools, ...] = Field((), description="Models that nodes serve; see docs/gpu.md.")

    @property
    def token(self) -> SecretRef | None:
        """The name of the DCGM exporter's token, or ``None``."""
        return self.secret("token")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        if self.source == "dcgm" and self.dcgm_url is None:
            raise wrong("reads a DCGM exporter and names none", "add dcgm_url")
        given = self.token_env is not None or self.token_file is not None
        if given and self.dcgm_url is None:
            raise wrong("has a token but no dcgm_url", "add dcgm_url, or remove the token")
        if given and self.dcgm_url is not None and in_clear(self.dcgm_url):
            remedy = "let dcgm_url be an https:// URL, or one of this machine"
            raise wrong("would send its token in clear", remedy)
        return self
