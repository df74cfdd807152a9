"""The configuration: one YAML file, read strictly, with errors that say where and what to do."""

from monitor.config.effective import Caps, Config, ProbeSettings, TargetSettings
from monitor.config.load import load_config, validate_section
from monitor.config.nodes import Node, NodeTarget
from monitor.config.positions import Positions, path_of
from monitor.config.problems import ConfigErrors
from monitor.config.secrets import SecretRef, own_secret, resolve_secret
from monitor.config.target import ProbeEntry, Target, Tenant

__all__ = [
    "Caps",
    "Config",
    "ConfigErrors",
    "Node",
    "NodeTarget",
    "Positions",
    "ProbeEntry",
    "ProbeSettings",
    "SecretRef",
    "Target",
    "TargetSettings",
    "Tenant",
    "load_config",
    "own_secret",
    "path_of",
    "resolve_secret",
    "validate_section",
]
