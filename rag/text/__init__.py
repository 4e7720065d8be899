"""Text: cleaning, sentences, words and tokens."""
