"""Measures retrieval, answers, citation checks and conversations on labelled data."""
