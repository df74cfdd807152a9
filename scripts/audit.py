"""Audit the pinned dependencies; say plainly when the vulnerability data cannot be reached."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

UNREACHABLE = ("ConnectionError", "Could not connect", "Max retries", "ServiceError", "timed out")


def main() -> int:
    """Return the audit's verdict: 1 for a known vulnerability, 0 for none or for no data."""
    audit = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip_audit",
            "--require-hashes",
            "--disable-pip",
            "--progress-spinner=off",
            "--format=json",
            "-r",
            "requirements/dev.txt",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if any(word in audit.stderr for word in UNREACHABLE):
        print("NOT AUDITED: the vulnerability data could not be reached")
        return 0
    try:
        packages = json.loads(audit.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(audit.stdout, audit.stderr, file=sys.stderr)
        return 1
    return report(packages)


def report(packages: list[dict[str, Any]]) -> int:
    """Print what is known of each package; what could not be looked up is not called safe."""
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    vulnerable = [package for package in packages if package.get("vulns")]
    for package in vulnerable:
        ids = ", ".join(vuln["id"] for vuln in package["vulns"])
        print(f"{package['name']} {package['version']}: {ids}")
    audited = len(packages) - len(skipped)
    print(f"audited {audited} of {len(packages)} packages, {len(vulnerable)} vulnerable")
    if skipped:
        print(f"NOT AUDITED (no data could be reached): {len(skipped)} packages")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
