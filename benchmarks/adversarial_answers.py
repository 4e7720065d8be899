"""Rates of the citation check on statements made from real abstracts: true ones that must pass, false ones that must be flagged.

    python benchmarks/adversarial_answers.py [PAPERS...] [--papers 60] [--lexical] [--json] [--show KIND]

PAPERS is anything `rag index` reads; the bundled seeds by default. Every statement is written into an answer with its citation, split and checked as
in the pipeline. Flagged means that the verdict is neither `quoted` nor `supported`. All rewrites are deterministic.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.embedding import open_embedder
from rag.evaluation.support import corpus_idf
from rag.readers import read_papers
from rag.records import Paper, Verdict
from rag.resources import bundled
from rag.settings import Settings
from rag.text.sentences import split_sentences
from rag.verification import Verifier, split_statements

SEED = 20_250_607
TARGETS = {"altered number": 0.98, "invented number": 0.98, "swapped paper": 0.98, "paraphrase, other paper": 0.98}
CEILINGS = {"verbatim": 0.03, "paraphrase": 0.08}
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-]|\.\d)")
WORDS = "two three four five six seven eight nine ten twelve".split()
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b")
NAME = re.compile(r"(?<![\w-])(?:[A-Z]{3,6}s?|[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Za-z]*-?\d+(?:\.\d+)?)(?![\w-])")
SYNONYMS = {
    "propose": "introduce", "proposes": "introduces", "introduce": "present", "introduces": "presents", "present": "describe", "show": "demonstrate", "shows": "demonstrates",
    "demonstrate": "show", "demonstrates": "shows", "method": "approach", "methods": "approaches", "approach": "method", "approaches": "methods", "significantly": "substantially",
    "existing": "previous", "improve": "enhance", "improves": "enhances", "utilize": "use", "novel": "new", "however": "but", "many": "numerous", "task": "problem", "tasks": "problems",
    "achieve": "reach", "achieves": "reaches", "challenging": "difficult", "crucial": "essential", "develop": "build", "study": "investigate", "investigate": "study",
    "framework": "system", "various": "different", "recent": "new", "enables": "allows", "effectively": "well", "address": "tackle", "find": "observe", "large": "big", "provide": "offer",
    "provides": "offers", "important": "key", "often": "frequently", "require": "need", "requires": "needs", "leverage": "use", "leverages": "uses", "performance": "results",
}  # fmt: skip
OPPOSITES = {
    "outperforms": "underperforms", "outperform": "underperform", "improves": "worsens", "improve": "worsen", "increases": "decreases", "reduces": "increases", "reduce": "increase",
    "reducing": "increasing", "higher": "lower", "lower": "higher", "better": "worse", "faster": "slower", "fewer": "more", "increase": "decrease", "superior": "inferior",
    "improving": "worsening", "larger": "smaller", "smaller": "larger", "efficient": "inefficient", "enhances": "impairs", "stronger": "weaker", "more": "less",
}  # fmt: skip
ASIDES = re.compile(
    r"\s\([^()]{1,80}\)|\b(?:significantly|substantially|notably|effectively|particularly|especially|very|also|further|highly|remarkably|importantly)\s"
)
OPENERS = re.compile(
    r"^(?:In this (?:work|paper|study),|Here,|However,|Moreover,|Furthermore,|Additionally,|Finally,|Specifically,|In particular,|Therefore,|Thus,|Notably,)\s+",
    re.I,
)


@dataclass(frozen=True)
class Case:
    """A statement that cites a paper, and whether the paper says so."""

    kind: str
    statement: str
    paper: Paper
    true: bool


def cases(papers: Sequence[Paper]) -> Iterator[Case]:
    """All cases of all sentences, the same at every run."""
    chance = random.Random(SEED)
    names = sorted({name for paper in papers for name in NAME.findall(paper.abstract)})
    for paper in papers:
        other = chance.choice([one for one in papers if one.id != paper.id])
        for span in split_sentences(paper.abstract):
            sentence = span.text
            if len(sentence.split()) < 8 or not sentence[0].isalpha():
                continue
            yield Case("verbatim", sentence, paper, true=True)
            rewrites = list(paraphrases(sentence))
            for name, text in rewrites:
                yield Case(f"paraphrase: {name}", text, paper, true=True)
            yield Case("swapped paper", sentence, other, true=False)
            if rewrites:
                yield Case("paraphrase, other paper", chance.choice(rewrites)[1], other, true=False)
            yield from (Case(kind, text, paper, true=False) for kind, text in falsified(sentence, names, paper, chance))


def paraphrases(sentence: str) -> Iterator[tuple[str, str]]:
    """Fair rewrites: the same claim in other words, order or length."""
    plain = third_person(OPENERS.sub("", sentence))
    yield "reported", f"The authors show that {lower_first(plain)}"
    if plain != sentence:
        yield "third person", upper_first(plain)
    swapped = synonyms(sentence)
    if changed_words(sentence, swapped) >= 2:
        yield "synonyms", swapped
    shorter = ASIDES.sub(" ", plain).replace("  ", " ").replace(" ,", ",")
    if shorter != plain:
        yield "asides dropped", upper_first(shorter)
    if reordered := reorder(sentence):
        yield "clauses reordered", reordered
    if passive := to_passive(plain):
        yield "passive", passive
    combined = synonyms(shorter)
    if changed_words(plain, combined) >= 3:
        yield "several at once", f"It seems that {lower_first(combined)}"


def falsified(sentence: str, names: Sequence[str], paper: Paper, chance: random.Random) -> Iterator[tuple[str, str]]:
    """The sentence made wrong in one place."""
    if altered := alter_number(sentence, chance):
        yield "altered number", altered
        yield "altered number", third_person(altered)
    body = sentence.rstrip(".")
    yield "invented number", f"{body} by {chance.randint(11, 98)}.{chance.randint(1, 9)}%."
    yield "invented number", f"{third_person(body)} on {chance.randint(13, 97)} datasets."
    own = NAME.findall(sentence)
    foreign = [name for name in names if name.lower() not in f"{paper.title} {paper.abstract}".lower()]
    if own and foreign:
        yield "wrong name", sentence.replace(own[0], chance.choice(foreign))
    if negated := negate(sentence):
        yield "negated", negated
    if opposite := replace_first(sentence, OPPOSITES):
        yield "opposite", opposite
    if swapped := swap_sides(sentence):
        yield "sides swapped", swapped


def alter_number(sentence: str, chance: random.Random) -> str:
    """One figure replaced by another; empty when there is none."""
    found = [*NUMBER.finditer(sentence), *NUMBER_WORD.finditer(sentence)]
    if not found:
        return ""
    match = chance.choice(found)
    if match[0].isalpha():
        new = chance.choice([word for word in WORDS if word != match[0]])
    else:
        whole, point, decimals = match[0].partition(".")
        swapped = whole[::-1].lstrip("0")
        new = (swapped if swapped and swapped != whole else str(int(whole) + chance.randint(1, 9))) + point + decimals
    return sentence[: match.start()] + new + sentence[match.end() :]


def negate(sentence: str) -> str:
    """The sentence denied, or no longer denied; empty when it has no place for a "not"."""
    if " not " in sentence:
        return sentence.replace(" not ", " ", 1)
    verb = re.search(r"\b(is|are|can|does|do|was|were|has|have|will|could)\b(?! not)", sentence)
    if verb and verb[1] not in ("has", "have", "do", "does"):
        return f"{sentence[: verb.end()]} not{sentence[verb.end() :]}"
    verb = re.search(
        r"\b(outperform|achieve|improve|reduce|propose|show|provide|demonstrate|introduce|present|require|enable|increase)(e?s)?\b",
        sentence,
    )
    return f"{sentence[: verb.start()]}{'does' if verb[2] else 'do'} not {verb[1]}{sentence[verb.end() :]}" if verb else ""


def swap_sides(sentence: str) -> str:
    """Subject and object of a comparison exchanged; empty when there is none."""
    match = re.search(
        r"^(?P<left>[^,;]{4,80}?) (?:significantly |consistently )?(?P<verb>outperforms?|surpass(?:es)?|exceeds?) (?P<right>[^,;.]{4,80})",
        sentence,
    )
    if not match:
        return ""
    return f"{upper_first(match['right'])} {match['verb']} {lower_first(match['left'])}{sentence[match.end() :]}"


def third_person(sentence: str) -> str:
    """What the authors say of themselves, said of them."""
    text = re.sub(r"\b[Ww]e\b", lambda match: "The authors" if match[0][0] == "W" else "they", sentence)
    text = re.sub(r"\b[Oo]ur\b", lambda match: "Their" if match[0][0] == "O" else "their", text)
    return re.sub(r"\bus\b", "them", text)


def synonyms(sentence: str) -> str:
    """Common words exchanged for others of the same meaning."""
    return re.sub(r"\b[a-z]+\b", lambda match: SYNONYMS.get(match[0], match[0]), sentence)


def reorder(sentence: str) -> str:
    """An opening or closing clause moved to the other end; empty when there is none."""
    body = sentence.rstrip(".")
    if opening := re.match(r"^((?:While|Although|Despite|By|To|In|With|Unlike|Given|When|For) [^,]{8,120}), (.{20,})$", body):
        return f"{upper_first(opening[2])}, {lower_first(opening[1])}."
    if closing := re.match(r"^(.{20,}?),? ((?:while|although|by|because|when|without|which enables) .{8,120})$", body):
        return f"{upper_first(closing[2])}, {lower_first(closing[1])}."
    return ""


def to_passive(sentence: str) -> str:
    """`The authors propose X` as `X is proposed`; empty for other sentences."""
    match = re.match(
        r"^(?:The authors|They) (propose|introduce|present|develop|investigate|analyze|evaluate) ([^,;.]{10,100})(.*)$", sentence
    )
    return (
        f"{upper_first(match[2])} is {match[1].removesuffix('e').removesuffix('y')}{'ed' if match[1] != 'study' else 'ied'}{match[3]}"
        if match
        else ""
    )


def replace_first(sentence: str, table: dict[str, str]) -> str:
    """The first word of the table exchanged; empty when there is none."""
    match = re.search(rf"\b(?:{'|'.join(table)})\b", sentence)
    return sentence[: match.start()] + table[match[0]] + sentence[match.end() :] if match else ""


def changed_words(one: str, other: str) -> int:
    """How many words of the one the other lacks."""
    return len(set(one.lower().split()) - set(other.lower().split()))


def lower_first(text: str) -> str:
    """Lower-cased at the beginning, unless a name stands there."""
    first = text.split(" ", 1)[0]
    return text if not first.istitle() and len(first) > 1 else text[:1].lower() + text[1:]


def upper_first(text: str) -> str:
    """Upper-cased at the beginning."""
    return text[:1].upper() + text[1:]


def judged(found: Sequence[Case], verifier: Verifier) -> list[Verdict]:
    """Each statement put into an answer with its citation, split and checked; of several statements the worst verdict."""
    order = ("unsupported", "weak", "supported", "quoted")
    statements = [[part.text for part in split_statements(f"{case.statement.rstrip('. ')} [1].")] or [case.statement] for case in found]
    pairs = [(text, case.paper) for case, texts in zip(found, statements, strict=True) for text in texts]
    verdicts = iter(verifier.check_many(pairs))
    return [min((next(verdicts) for _ in texts), key=lambda verdict: order.index(verdict.support)) for texts in statements]


def rates(found: Sequence[Case], verdicts: Sequence[Verdict]) -> dict[str, dict[str, float]]:
    """Kind to number of cases and the share that was flagged; paraphrases also all together."""
    flags: dict[str, list[bool]] = defaultdict(list)
    for case, verdict in zip(found, verdicts, strict=True):
        is_flagged = verdict.support in ("weak", "unsupported")
        flags[case.kind].append(is_flagged)
        if case.kind.startswith("paraphrase: "):
            flags["paraphrase"].append(is_flagged)
    return {kind: {"n": len(own), "flagged": sum(own) / len(own)} for kind, own in sorted(flags.items())}


def failed_targets(figures: dict[str, dict[str, float]]) -> list[str]:
    """The kinds whose rate misses its target."""
    low = [kind for kind, floor in TARGETS.items() if kind in figures and figures[kind]["flagged"] < floor]
    return low + [kind for kind, ceiling in CEILINGS.items() if kind in figures and figures[kind]["flagged"] > ceiling]


def bundled_papers() -> list[str]:
    """The seeds."""
    return sorted(str(path) for path in bundled("seeds").glob("*.txt"))


def load(paths: Sequence[str], limit: int) -> list[Paper]:
    """The first papers that have an abstract."""
    return [record for record in read_papers(list(paths)) if isinstance(record, Paper) and record.abstract][:limit]


def main() -> None:
    """Prints the rates; exits with 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", default=bundled_papers())
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--lexical", action="store_true", help="check without an embedder")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", metavar="KIND", help="print the cases of a kind that came out wrong")
    options = parser.parse_args()
    papers = load(options.papers, options.limit)
    found = list(cases(papers))
    verifier = Verifier(corpus_idf(papers), None if options.lexical else open_embedder(Settings.resolve()))
    verdicts = judged(found, verifier)
    figures = rates(found, verdicts)
    if options.json:
        print(json.dumps({"papers": len(papers), "cases": len(found), "rates": figures}, indent=2))
    else:
        print(f"{len(found)} statements from {len(papers)} abstracts\n\n| kind | n | flagged |\n|---|---|---|")
        print("\n".join(f"| {kind} | {own['n']} | {own['flagged']:.1%} |" for kind, own in figures.items()))
    for case, verdict in zip(found, verdicts, strict=True):
        if options.show and case.kind.startswith(options.show) and case.true == (verdict.support in ("weak", "unsupported")):
            print(f"\n{case.kind}: {verdict.support} {verdict.score:.2f} {verdict.problem or ''}\n  {case.statement}\n  {case.paper.title}")
    if missed := failed_targets(figures):
        raise SystemExit(f"Missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
