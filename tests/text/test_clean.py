# ruff: noqa: E501 - samples stand as they are found
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.text.clean import clean_text, harmless_text, plain_text, terminal_text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  a\n\tb\r\n c ", "a b c"),
        ("a\u2028b\u3000c\u00a0d\x0be\x85f", "a b c d e f"),
        ("Cafe\u0301", "Café"),
        ("a\x00b\x1bc\x7fd\x9be", "abcde"),
        ("a\u202eb\u2066c\u200ed", "abcd"),
        ("a\u200bb\ufeffc\u00add\u2060e", "abcde"),
        ("a\U000e0041b\U000e0100", "ab"),
        ("a\ud800b\uffff", "ab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("ig\u200dnore\u200c", "ignore"),
        ("", ""),
    ],
)
def test_clean_text(raw, clean):
    assert clean_text(raw) == clean


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("<p>One.</p><p>Two.</p>", "One. Two."),
        ('<a href="https://x.org/?a=1&amp;b=2">link</a> <br/>next', "link next"),
        ("<jats:title>Abstract</jats:title> <jats:p>Text <jats:italic>here</jats:italic>.</jats:p>", "Text here."),
        ("<jats:sec><jats:title>Methods</jats:title><jats:p>We.</jats:p></jats:sec>", "Methods We."),
        ("&lt;jats:p&gt;Twice escaped&lt;/jats:p&gt;", "Twice escaped"),
        ("R&amp;D, AT&T, a&amp;amp;b, &eacute;&#233;&#xe9;, &mdash;", "R&D, AT&T, a&b, ééé, —"),
        ("https://x.org/?a=1&copy=2", "https://x.org/?a=1&copy=2"),
        ("p < 0.05 and q > 3, a<b and c>d", "p < 0.05 and q > 3, a<b and c>d"),
        ("the <SEP> and <think> tokens, List<String>", "the <SEP> and <think> tokens, List<String>"),
        ("H<sub>2</sub>O, x<sub>i</sub>, 10<sup>-3</sup>, 1<sup>st</sup>", "H2O, x_i, 10^-3, 1st"),
        ("<![CDATA[a b]]><!-- no --><script>x()</script>c", "a b c"),
        (r"<inline-formula><alternatives><tex-math>$x^2$</tex-math><mml:math><mml:mi>x</mml:mi></mml:math></alternatives></inline-formula>", "$x^2$"),
        (r"<tex-math>\documentclass{a}\begin{document}$$x$$\end{document}</tex-math>", "$$x$$"),
        (r"Erd\H{o}s, G\"odel, Fran\c{c}ois, \v{S}koda, na{\"\i}ve, \O re, \ss, {\'e}", "Erdős, Gödel, François, Škoda, naïve, Øre, ß, é"),
        (r"\emph{a \textbf{b}} {\em c} \textit{d}", "a b c d"),
        (r"5\% of \$3 \& more\_x \#1", "5% of $3 & more_x #1"),
        (r"see \url{https://x.org/a_b} or \href{https://y.org}{here}", "see https://x.org/a_b or here"),
        (r"as shown~\citep{smith2020}.", "as shown."),
        (r"rate $O(\frac{1}{T})$ and \(x^2\) stay; \begin{equation}a\%b\end{equation}", r"rate $O(\frac{1}{T})$ and \(x^2\) stay; \begin{equation}a\%b\end{equation}"),
        ("``quoted'' text", "“quoted” text"),
        (r"our \method improves", r"our \method improves"),
        ("$5 and $10", "$5 and $10"),
        (r"\textbackslash{}emph and \textasciitilde{}", r"\emph and ~"),
    ],
)  # fmt: skip
def test_plain_text(raw, plain):
    assert plain_text(raw) == plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"rate $O(\frac{1}{T})$", "rate O(1/T)"),
        (r"$\alpha \leq \beta_{i}$", "α≤β_i"),
        (r"$x^{p/2}$ and $\epsilon^{-2}$", "x^(p/2) and ϵ^-2"),
        (r"$\lVert x \rVert$", "‖ x ‖"),
        (r"a $\texttt{Tool}$", "a Tool"),
        (r"up to 5.3\% and \textbf{bold}", "up to 5.3% and bold"),
        (r"$\unknowncommand{x}$ and \ours", "unknowncommandx and ours"),
        (r"\epsilon-close", "ϵ-close"),
        ("$5 and $10", "$5 and $10"),
        ("two\nlines\r\nand\ttab", "two\nlines\nand tab"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x \x9b2Jy \x1bPq\x1b\\z", "red x y z"),
        ("a\u202eb\u2066c", "abc"),
        ("[1] stays [/red]", "[1] stays [/red]"),
    ],
)
def test_terminal_text(text, shown):
    assert terminal_text(text) == shown


def test_harmless_text_leaves_latex_as_written():
    assert harmless_text("$x_t$ \\emph{a}\x1b[2J\nb\x07") == "$x_t$ \\emph{a}\nb"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_clean_text_is_stable_and_one_line(text):
    clean = clean_text(text)
    assert clean_text(clean) == clean == " ".join(clean.split())
    clean.encode()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="\\{}$&<>/;ab'\"^~%\n\x1b[]()`._-é\u0301", max_size=120))
def test_no_markup_makes_any_of_them_fail(text):
    assert plain_text(text) == clean_text(plain_text(text))
    shown = terminal_text(text)
    assert not any(ord(char) < 32 and char != "\n" for char in shown)


@pytest.mark.parametrize(
    "text",
    ["a" + "\u0301\u0327" * 100_000, "$" * 100_000, "\\(" * 50_000, "``" * 50_000, "<a " * 50_000, "{" * 100_000, "\\emph{" * 20_000, "&" * 100_000,
     "<sub>" * 20_000, "\\begin{align}" * 8_000, "<!--" * 25_000, "$$x" * 30_000, "\\'" * 50_000, "<tex-math" * 10_000 + "<math>" * 10_000, "\x1b]" * 50_000],
    ids=range(15),
)  # fmt: skip
def test_hostile_text_is_cleaned_in_time(text):
    start = time.process_time()
    plain_text(text)
    terminal_text(text)
    assert time.process_time() - start < 5
