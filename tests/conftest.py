"""What every test runs under."""

from hypothesis import settings

# A busy machine is no failure: no test of ours is about how long an example takes.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
