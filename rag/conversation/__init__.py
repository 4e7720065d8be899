"""Conversations: follow-up questions, stable numbers, the log."""

from __future__ import annotations

from rag.conversation.exchange import Exchange
from rag.conversation.log import ConversationLog
from rag.conversation.session import Conversation, TurnRun

__all__ = ["Conversation", "ConversationLog", "Exchange", "TurnRun"]
