"""The tests of public samples are there only where the samples are."""

from tests.unit.nodes.readers.public import folder

collect_ignore = [] if folder() else ["test_public_samples.py"]
