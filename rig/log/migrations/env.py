"""Run the migrations on the connection that `rig.log` hands over, inside its transaction."""

from __future__ import annotations

from alembic import context

from rig.log._tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
