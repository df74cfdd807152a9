"""From which version on SGLang does, serves or exports something, as far as the lab plays it.

Read from the releases of https://github.com/sgl-project/sglang. That a refused prompt leaves the
prefill node instead of passing on as a placeholder came with pull request 36988; the report of what
happened before is issue 30233.
"""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

SINCE: Mapping[str, Version] = {
    name: Version(version)
    for name, version in {
        "retires_refused_prompts": "0.5.20",
        "names_engine_type": "0.5.4",
        "/server_info": "0.5.6",
        "/model_info": "0.5.11",
        "/v1/loads": "0.5.10",
        "launch_command": "0.5.20",
        "mode_in_model_info": "0.5.21",
        "kv_checksum": "0.5.22",
        "max_total_num_tokens": "0.5.6",
        "context_len": "0.5.11",
        "page_size": "0.5.11",
        "num_pages": "0.5.11",
        "kv_used_tokens": "0.5.11",
        "kv_available_tokens": "0.5.11",
        "kv_evictable_tokens": "0.5.11",
    }.items()
}
# What a build that was no release says of itself. It is of the newest source, whatever it says.
_NO_RELEASE = (0, 0, 0)


def does(version: str, what: str) -> bool:
    """Return whether a version has something; what stands in no list every version has.

    Raises ``packaging.version.InvalidVersion`` for a text that is no version.
    """
    parsed = Version(version)
    since = SINCE.get(what)
    return since is None or parsed.release == _NO_RELEASE or parsed >= since
