"""A real HTTP server that speaks the OpenAI protocol and misbehaves on command.

`FakeServer` listens on loopback; `Reply` is one scripted reply; `faults` holds the ways to go wrong;
`obedient` answers as a model would that follows every instruction it finds inside the papers.
"""

from openai_server import faults
from openai_server.injection import obedient
from openai_server.replies import Reply, Request
from openai_server.server import FakeServer

__all__ = ["FakeServer", "Reply", "Request", "faults", "obedient"]
