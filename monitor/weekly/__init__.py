"""The weekly integrity report: computed from the store, written in files, chained and signed.

``building`` makes one; ``verifying`` needs nothing but the files, and a public key had elsewhere.
"""
