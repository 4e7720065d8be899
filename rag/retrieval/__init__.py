"""From a question to ranked papers: cleaning, planning, fusion, reranking, and whether the corpus answers at all."""
