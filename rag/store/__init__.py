"""Where papers and vectors are kept: the catalog (SQLite), Chroma, and what keeps the two in step."""
