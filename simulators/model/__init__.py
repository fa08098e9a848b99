"""A scripted model behind the wire formats of OpenAI (Responses, Chat Completions) and Anthropic, over HTTP.

It imports nothing of ours outside this folder, so that it can be shipped inside another package.
"""

from simulators.model.formats import Asked, Call, Reply
from simulators.model.script import Script
from simulators.model.server import ModelServer

__all__ = ["Asked", "Call", "ModelServer", "Reply", "Script"]
