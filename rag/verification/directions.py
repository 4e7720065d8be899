"""Words that say which way something goes, and pairs of words that exclude each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rag.text.words import stem

_UP = (
    "increase raise elevate enhance improve promote induce activate upregulate boost accelerate amplify strengthen gain rise grow expand exceed outperform surpass "
    "higher high more greater larger better longer faster stronger most highest best largest longest fastest superior facilitate enable stimulate positive "
    "positively benefit beneficial favor help support succeed maximize heighten augment above protect sensitive efficient accurate robust"
)
_DOWN = (
    "decrease reduce lower diminish inhibit suppress impair prevent downregulate hinder slow weaken lose fall shrink drop decline underperform lag "
    "low less fewer smaller worse shorter slower weaker least lowest worst smallest shortest slowest inferior block hamper disrupt negative "
    "negatively harm harmful hurt degrade deteriorate minimize attenuate abolish abrogate repress below worsen resistant inefficient inaccurate fragile"
)
_PAIRS = (
    "before/after early/late with/without possible/impossible necessary/unnecessary supervised/unsupervised linear/nonlinear convex/nonconvex static/dynamic "
    "simple/complex safe/unsafe stable/unstable present/absent include/exclude agree/disagree start/stop open/closed local/global upper/lower minimum/maximum "
    "online/offline known/unknown certain/uncertain reliable/unreliable sufficient/insufficient similar/different easy/hard cheap/expensive strong/weak long/short "
    "small/large always/never all/none first/last sparse/dense finite/infinite deterministic/stochastic consistent/inconsistent related/unrelated "
    "essential/dispensable required/dispensable dependent/independent accept/reject add/remove common/rare fast/slow rapid/slow deep/shallow wide/narrow"
)
# Words that deny the verb they stand with ...
_DENIALS = frozenset("not no never without neither nor cannot none nothing hardly scarcely barely fail fails failed failing unable".split())
# ... and words that say the same of a thing: its lack, or that it makes no difference.
_ABSENCES = frozenset(
    "absent absence lack lacks lacking lacked unrelated similar independent ineffective insufficient unaffected unchanged incapable".split()
)


def is_denial(word: str) -> bool:
    """Whether a lower-cased word denies the verb it stands with."""
    return word in _DENIALS or word.endswith("n't")


def is_negator(word: str) -> bool:
    """Whether a lower-cased word denies, or says that something is absent or makes no difference."""
    return word in _ABSENCES or is_denial(word)


def direction(stem_: str) -> int:
    """1 for a stem that says "more" or "better", -1 for "less" or "worse", 0 for all others."""
    up, down = _directions()
    return (stem_ in up) - (stem_ in down)


def opposites_of(stem_: str) -> frozenset[str]:
    """The stems that cannot be said of the same thing at once; empty for most words."""
    return _opposites().get(stem_, frozenset())


@lru_cache(maxsize=1)
def _directions() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(map(stem, _UP.split())), frozenset(map(stem, _DOWN.split()))


@lru_cache(maxsize=1)
def _opposites() -> Mapping[str, frozenset[str]]:
    up, down = _directions()
    table: dict[str, set[str]] = {key: set(down - up) for key in up} | {key: set(up - down) for key in down}
    for pair in _PAIRS.split():
        one, other = (stem(word) for word in pair.split("/"))
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {key: frozenset(value - {key}) for key, value in table.items()}
