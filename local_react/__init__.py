"""A local, offline-first ReAct agent. This module only names what is public."""
