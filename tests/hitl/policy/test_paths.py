"""Globs of paths, and which readings of a path they are held against."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.policy.globs import BadGlob, expand_braces, glob
from hitl.policy.paths import PathScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.ports import Repository, Tree

MATCHES = (
    ("*.txt", "a.txt", True),
    ("*.txt", "d/a.txt", False),
    ("d/*", "d/a", True),
    ("d/*", "d", False),
    ("d/**", "d", True),
    ("d/**", "d/a/b", True),
    ("d/**", "dd", False),
    ("**/a", "a", True),
    ("**/a", "/x/y/a", True),
    ("**/a", "/x/ya", False),
    ("**", "x/y", True),
    ("/d/**", "/d", True),
    ("/**", "/x", True),
    ("x/**/y", "x/y", True),
    ("x/**/y", "x/1/2/y", True),
    ("x/**/y", "xy", False),
    ("**/k/**", "/a/k/b", True),
    ("**/k/**", "k", True),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
    ("[a-c]x", "bx", True),
    ("[^a-c]x", "bx", False),
    ("[^a-c]x", "/x", False),
    (r"\*x", "*x", True),
    (r"\*x", "ax", False),
    ("./d//e/", "d/e", True),
    ("{a,b/c}/x", "b/c/x", True),
    ("{a,{b,c}}x", "cx", True),
    ("{,a}x", "x", True),
    ("a,b", "a,b", True),
    (".*", ".env", True),
)


@pytest.mark.parametrize(("pattern", "path", "expected"), MATCHES)
def test_globs_match_whole_paths(pattern: str, path: str, expected: bool) -> None:
    """Stars stay within a component, two of them cross components, a folder covers itself."""
    assert expected == (glob(pattern).sure.fullmatch(path) is not None)


_PARTS = st.sampled_from(["**", "*", "a", "A*", "{a,B}", "{a/b,**/c}", "[^A]b", "[a-c]", ".x", "a**b"])
_NAMES = st.lists(st.sampled_from(["a", "b", "c", "A", "ab", "aB", ".x", "axb"]), min_size=1, max_size=4)


@given(pattern=st.lists(_PARTS, min_size=1, max_size=4).map("/".join), name=_NAMES.map("/".join))
def test_a_glob_with_braces_covers_what_its_alternatives_cover(pattern: str, name: str) -> None:
    """One expression for all alternatives, and a first look without upper and lower case, change no answer."""
    each = [glob(one).perhaps.fullmatch(name) is not None for one in expand_braces(pattern)]

    assert any(each) == glob(pattern).covers(name) == (glob(pattern).perhaps.fullmatch(name) is not None)


@pytest.mark.parametrize("pattern", ["{a", "a}", "{a,{b}", "[a", "[]", "[z-a]", "a\\", "{a,b}" * 12, "[a-]"])
def test_malformed_globs_are_refused(pattern: str) -> None:
    """A pattern that would silently never match is an error."""
    with pytest.raises(BadGlob):
        glob(pattern)


def test_braces_have_a_bound() -> None:
    """Alternatives multiply up to a limit."""
    assert ["ac", "ad", "bc", "bd"] == expand_braces("{a,b}{c,d}")
    assert 2048 == len(expand_braces("{a,b}" * 11))


def test_a_double_star_inside_a_component_is_read_both_ways() -> None:
    """To tighten, ``**.key`` also means any path that ends so; to loosen, only what both readings cover."""
    scope = PathScope(None, None)

    assert YES == scope.tightens(glob("**.key"), "a/b.key")
    assert NO == scope.loosens(glob("**.key"), "a/b.key")
    assert YES == scope.tightens(glob("d**"), "dx")
    assert NO == scope.loosens(glob("d**"), "dx")
    assert YES == scope.loosens(glob("d**"), "d/x")


TIGHTEN = (
    ("/etc/**", "/etc/x", YES),
    ("/etc/**", "/etc//x/", YES),
    ("/etc/**", "/srv/../etc/x", YES),
    ("/etc/**", "../../etc/x", YES),
    ("/etc/**", "file:///etc/x", YES),
    ("/etc/**", "FILE:/etc/x", YES),
    ("/etc/**", "/etcetera", NO),
    ("/etc/**", "etc/x", NO),
    ("**/.key", ".key", YES),
    ("**/.key", "d/.KEY", UNSURE),
    ("**/.key", "d/%2ekey", UNSURE),
    ("**/.key", "d/.key ", UNSURE),
    ("**/.key", "d/.key.", UNSURE),
    ("**/.key", "d/.k*", UNSURE),
    ("**/.key", "d/.{key,x}", UNSURE),
    ("**/.key", "d\\.key", UNSURE),
    ("**/.key", "d/.key\x00.txt", UNSURE),
    ("**/.key", "d/．key", UNSURE),
    ("**/.key", "d/.keys", NO),
    ("/home/u/.k/**", "~/.k/x", UNSURE),
    ("/home/u/.k/**", "$HOME/.k/x", UNSURE),
    ("/home/u/.k/**", "~/other/x", NO),
    ("./src/**", "/proj/src/a", YES),
    ("src/**", "src/a", YES),
)


@pytest.mark.parametrize(("pattern", "path", "expected"), TIGHTEN)
def test_any_reading_is_enough_to_tighten(pattern: str, path: str, expected: int) -> None:
    """A path that is covered is found however it is written; one that might be is at least doubtful."""
    assert expected == PathScope("/proj/dir/..", None).tightens(glob(pattern), path)


LOOSEN = (
    ("/proj/d/**", "/proj/d/a.txt", YES),
    ("/proj/d/**", "d/a.txt", YES),
    ("/proj/d/**", "./d/../d/a b.txt", YES),
    ("./d/**", "d/x", YES),
    ("./d/**", "/proj/d/x", YES),
    ("/proj/d/**", "d/../../etc/x", NO),
    ("/proj/d/**", "/proj/dd/x", NO),
    ("/proj/d/**", "/proj/d/*", UNSURE),
    ("/proj/d/**", "/proj/d/%2e%2e/x", UNSURE),
    ("/proj/d/**", "/proj/d/x\x00", UNSURE),
    ("/proj/d/**", "/proj/d/$X", UNSURE),
    ("/proj/d/**", "/proj/d/x ", UNSURE),
    ("/proj/d/**", "/proj/d/\u2025/x", UNSURE),
    ("/proj/d/**", "/proj/d/\u2024\u2024/x", UNSURE),
    ("/proj/d/**", "/proj/d/cafe\u0301", YES),
    ("/proj/d/**", "/proj/d/a\u202eb", UNSURE),
    ("/proj/d/**", "", NO),
    ("/proj/d/**", "/PROJ/d/x", NO),
    ("**", "../x", YES),
    ("./**", "d/x", YES),
    ("./**", "/proj/d/x", YES),
    ("./**", "/home/x", NO),
    ("./**", "../x", NO),
)


@pytest.mark.parametrize(("pattern", "path", "expected"), LOOSEN)
def test_every_reading_must_agree_to_loosen(pattern: str, path: str, expected: int) -> None:
    """A path passes only if it can be read in one way, and that way is covered."""
    assert expected == PathScope("/proj", None).loosens(glob(pattern), path)


def test_a_star_never_stands_for_going_up() -> None:
    """Without a working folder, a path that leads out of it is covered by no wildcard."""
    scope = PathScope(None, None)

    assert NO == scope.loosens(glob("**"), "../x")
    assert NO == scope.loosens(glob("*/x"), "../x")
    assert YES == scope.loosens(glob("../*"), "../x")


@dataclass
class Links:
    """A file system of links, for tests."""

    links: dict[str, str | None] = field(default_factory=dict)
    insensitive: bool = False

    def resolve(self, path: str, cwd: str) -> str | None:
        """Where the path leads."""
        whole = path if path.startswith("/") else f"{cwd}/{path}"
        return self.links.get(whole, whole)

    def case_insensitive(self, path: str) -> bool:
        """Whether case matters nowhere."""
        return self.insensitive and bool(path)

    def repository(self, path: str) -> Repository | None:
        """No folder is in a repository."""
        del path
        return None

    def tracked(self, _path: str, *, most: int) -> tuple[str, ...] | None:
        """Nothing is tracked."""
        return () if most else None

    def unhidden(self, path: str, files: Sequence[str]) -> tuple[str, ...] | None:
        """No ignore file names a hidden file."""
        del path, files
        return ()

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Every folder is empty."""
        return Tree(path, (), complete=most >= 0 and deep)


def test_a_link_is_judged_by_where_it_leads() -> None:
    """The written and the resolved form are both judged, and the stronger outcome wins."""
    scope = PathScope("/proj", Links({"/proj/d/link": "/etc/shadow"}))

    assert YES == scope.tightens(glob("/etc/**"), "d/link")
    assert UNSURE == scope.loosens(glob("/proj/d/**"), "d/link")
    assert YES == scope.loosens(glob("/proj/d/**"), "d/other")


def test_a_path_that_cannot_be_resolved_is_not_loosened() -> None:
    """When the file system does not say where a path leads, nothing passes because of it."""
    scope = PathScope("/proj", Links({"/proj/d/x": None}))

    assert UNSURE == scope.loosens(glob("/proj/d/**"), "d/x")


def test_case_follows_the_file_system() -> None:
    """Where ``.KEY`` and ``.key`` are one file, a deny of one is a deny of the other."""
    assert YES == PathScope("/w", Links(insensitive=True)).tightens(glob("**/.key"), "/w/.KEY")
    assert UNSURE == PathScope("/w", None).tightens(glob("**/.key"), "/w/.KEY")
