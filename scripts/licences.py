"""List the licence of every installed distribution; fail on one we may not depend on."""

from __future__ import annotations

import json
import subprocess
import sys

# Licences a product under Apache-2.0 may not depend on. Development tools are listed too.
REFUSED = ("GPL", "AGPL", "BUSL", "SSPL", "Commons Clause")
ALLOWED_DESPITE = ("LGPL", "GPL-2.0-with-linking-exception")


def refused(licence: str) -> bool:
    """True for a licence that is refused and not one of the exceptions."""
    rest = licence
    for allowed in ALLOWED_DESPITE:
        rest = rest.replace(allowed, "")
    return any(word in rest for word in REFUSED)


def main() -> int:
    """Print the table and return 1 if a refused licence is in it."""
    listed = subprocess.run(
        [sys.executable, "-m", "piplicenses", "--format=json", "--from=mixed", "--with-system"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = json.loads(listed.stdout)
    for package in packages:
        print(f"{package['Name']:<28} {package['Version']:<16} {package['License']}")
    bad = [package["Name"] for package in packages if refused(package["License"])]
    if bad:
        print(f"refused licences: {', '.join(bad)}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
