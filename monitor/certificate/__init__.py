"""Evidence certificates: what shows a leak to somebody who trusts neither store nor operator.

``issuing`` makes one from the store; ``verifying`` needs nothing but the file and a public key.
"""
