"""Why each soldier fell."""

from vision.causes.contacts import find_contacts
from vision.causes.fall_cause import FallCause, Knock, allow_for_standing, explain
from vision.causes.perhaps_fallen import find_perhaps_fallen
from vision.causes.seen import ShotSeen
from vision.causes.touches import ShotContacts

__all__ = [
    "FallCause",
    "Knock",
    "ShotContacts",
    "ShotSeen",
    "allow_for_standing",
    "explain",
    "find_contacts",
    "find_perhaps_fallen",
]
