"""The store while things break: processes die, servers go away, disks fill up.

Minutes long, so not part of ``make test``: ``make test-store`` runs them.
"""
