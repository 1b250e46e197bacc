"""Why each soldier fell."""

from vision.causes.contacts import ShotContacts, find_contacts
from vision.causes.fall_cause import FallCause, Knock, explain

__all__ = ["FallCause", "Knock", "ShotContacts", "explain", "find_contacts"]
