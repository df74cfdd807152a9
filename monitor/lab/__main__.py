"""``python -m monitor.lab``."""

from __future__ import annotations

import sys

from monitor.lab.command import main

sys.exit(main())
