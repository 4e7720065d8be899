"""Taking papers and answers away, in formats other tools read."""

from rag.exports.answers import export_answer
from rag.exports.files import write_file
from rag.exports.papers import FORMATS, export_papers
from rag.exports.shapes import answer_json, hit_json, paper_json, record_json

__all__ = ["FORMATS", "answer_json", "export_answer", "export_papers", "hit_json", "paper_json", "record_json", "write_file"]
