"""What an ordinary paper of the corpus scores for a topic, so that "close" means closer than the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.retrieval.topic import PaperWords, Topic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.protocols import Vectors
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library

# Aboutness: cosine of whole abstract and best window in equal parts, and words. Chosen on keyword lists (docs/evaluation.md).
_LEXICAL = 0.3
_SAMPLE = 400
# A corpus of a few papers says little about what is ordinary: this many typical papers (medians over the development topics) join it.
_FEW, _TYPICAL_MEAN, _TYPICAL_DEVIATION = 30, 0.13, 0.085
_DEFAULT_LENGTH = 240.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of aboutness over the corpus."""

    mean: float
    deviation: float

    def standardised(self, aboutness: float) -> float:
        """How many standard deviations above an ordinary paper."""
        return (aboutness - self.mean) / self.deviation


@dataclass(frozen=True, slots=True)
class Background:
    """A sample of the corpus's papers, evenly spread over their ids; worth keeping until the corpus changes."""

    words: tuple[PaperWords, ...]
    whole: Vectors
    """`(n, dimension)`: chunk 0 of each."""
    windows: Vectors
    """All windows of all, paper by paper."""
    first: NDArray[np.int64]
    """Row in `windows` of each paper's first window."""
    mean_length: float

    @classmethod
    def of(cls, library: Library | JoinedLibrary, most: int = _SAMPLE) -> Background:
        """The sample of a corpus: all of a small one, else `most` papers; reads no other."""
        import numpy as np

        ids = sorted(library.ids())
        step = max(len(ids) / most, 1.0)
        chosen = [ids[int(i * step)] for i in range(min(len(ids), most))]
        held, stored = PaperWords.read(library, chosen), library.vectors(chosen)
        present = [key for key in chosen if key in held and key in stored]
        words = tuple(held[key] for key in present)
        if not present:
            return cls((), np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32), np.zeros(0, np.int64), _DEFAULT_LENGTH)
        # A paper of one chunk is its own window.
        windows = [stored[key][1][1:] if len(stored[key][1]) > 1 else stored[key][1] for key in present]
        first = np.cumsum([0, *(len(rows) for rows in windows[:-1])])
        length = sum(word.length for word in words) / len(words)
        return cls(words, np.stack([stored[key][1][0] for key in present]), np.concatenate(windows), first, length or 1.0)

    def spread(self, topic: Topic, vector: Vectors) -> Spread:
        """Of the topic whose embedding is `vector`."""
        import numpy as np

        if not self.words:
            return Spread(_TYPICAL_MEAN, _TYPICAL_DEVIATION)
        windows = np.maximum.reduceat(self.windows @ vector, self.first)
        lexical = np.array([topic.lexical(words, self.mean_length) for words in self.words])
        scores = aboutness(self.whole @ vector, windows, lexical)
        added = max(_FEW - len(scores), 0)
        total = len(scores) + added
        mean = (float(scores.sum()) + added * _TYPICAL_MEAN) / total
        squares = float(((scores - mean) ** 2).sum()) + added * (_TYPICAL_DEVIATION**2 + (_TYPICAL_MEAN - mean) ** 2)
        return Spread(mean, max((squares / total) ** 0.5, 1e-3))


def aboutness(whole: NDArray[np.float32], window: NDArray[np.float32], lexical: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much a paper is about a topic, from its cosines and `Topic.lexical`; comparable within one topic."""
    dense = (whole.astype(float) + window) / 2
    return (1 - _LEXICAL) * dense + _LEXICAL * lexical
