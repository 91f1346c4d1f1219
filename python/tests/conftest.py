"""Settings of all tests."""

from hypothesis import settings

# How long a case takes says nothing on a loaded machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
