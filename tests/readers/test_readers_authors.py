import pytest

from rag.readers.names import author_names, split_terms


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("A B;C D", ["A B", "C D"]),
        ("A B; C D;", ["A B", "C D"]),
        ("A B and C D", ["A B", "C D"]),
        ("A B, C D and E F", ["A B", "C D", "E F"]),
        ("A B, C D, and E F", ["A B", "C D", "E F"]),
        ("A B & C D", ["A B", "C D"]),
        ("A B, C D", ["A B", "C D"]),
        ("A B\nC D", ["A B", "C D"]),
        ("Last, First", ["First Last"]),
        ("Last, First; Other, Second", ["First Last", "Second Other"]),
        ("Last, First and Other, Second", ["First Last", "Second Other"]),
        ("Smith, J., Doe, A.", ["J. Smith", "A. Doe"]),
        ("Smith J., Doe A.", ["Smith J.", "Doe A."]),
        ("King, Jr., Martin", ["Martin King Jr."]),
        ("King, Martin, Jr.", ["Martin King Jr."]),
        ("Martin King, Jr.", ["Martin King Jr."]),
        ("van der Berg, Anna", ["Anna van der Berg"]),
        ("Doe, Jane (57123456789)", ["Jane Doe"]),
        ("Sandra Brand", ["Sandra Brand"]),
        ("张伟, 李娜", ["张伟", "李娜"]),
        (["Last, First", "A B"], ["First Last", "A B"]),
        (["A B; C D"], ["A B", "C D"]),
        ([["Last", "First", ""], ["Berger", "E. L.", "III"]], ["First Last", "E. L. Berger III"]),
        ([{"name": "Last, First"}], ["First Last"]),
        ([{"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}], ["Ludwig van Beethoven"]),
        ([{"literal": "Birds, Inc."}], ["Birds, Inc."]),
        ({"name": "A B"}, ["A B"]),
        ([None, 1, [], {}, "A B"], ["A B"]),
        ("", []),
        (None, []),
        (7, []),
    ],
)
def test_author_shapes(value, names):
    assert author_names(value) == names


@pytest.mark.parametrize(
    ("value", "terms"),
    [
        ("a; b ;c", ["a", "b", "c"]),
        ("a, b", ["a", "b"]),
        ("a, b; c", ["a, b", "c"]),
        (["a; b"], ["a", "b"]),
        (["a, b"], ["a", "b"]),
        (["a, b", "c"], ["a, b", "c"]),
        (["a", "a", " ", None, 3, {"name": "n"}], ["a", "n"]),
        (None, []),
    ],
)
def test_keyword_shapes(value, terms):
    assert split_terms(value) == terms
