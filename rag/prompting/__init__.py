"""Prompts: the texts sent to chat models, and papers set as data inside them."""
