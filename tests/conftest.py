"""Settings of every test."""

from hypothesis import settings

# The machine may be busy and runs must repeat: no deadlines, fixed examples.
settings.register_profile("davylamp", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("davylamp")
