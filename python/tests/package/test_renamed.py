"""Names of 0.2.0: each works, warns at the caller's line, and means what the new name means."""

import ast
import dataclasses
import inspect
import pickle
import re
import types
import warnings

import pytest
import recmap
from conftest import DIGITS, ROOT
from recmap._base import renamed as _renamed

LABEL = {"label": recmap.FixedLen((), "int64")}
PUBLIC = {
    "missing": [recmap.index, recmap.Writer, recmap.Dataset.annotate],
    "on": [recmap.join, recmap.Dataset.annotate],
    "on_corrupt": [recmap.open, recmap.index],
    "on_error": [recmap.Loader, recmap.Dataset.parse, recmap.Dataset.parse_sequence],
    "positions": [recmap.Loader],
    "shares": [recmap.Dataset.split],
}


def renamed(call, *words):
    """The result of a call that gives one warning of a renamed name, at this file's line."""
    with pytest.warns(DeprecationWarning) as caught:
        result = call()
    said = [str(warning.message) for warning in caught]
    assert len(said) == len(words), said
    for text, word in zip(said, words, strict=True):
        assert word in text and "until recmap 2.0" in text
    assert {warning.filename for warning in caught} == {__file__}
    return result


@pytest.fixture
def ds(tmp_path):
    return recmap.open(DIGITS, index=tmp_path / "digits.rmx", id="id")


def test_the_table_names_arguments_that_exist_under_the_new_name_only():
    assert _renamed.ARGUMENTS.keys() == PUBLIC.keys()
    for old, functions in PUBLIC.items():
        for function in functions:
            parameters = inspect.signature(function).parameters
            assert _renamed.ARGUMENTS[old] in parameters and old not in parameters, function
    for old, new in _renamed.METHODS.items():
        assert not hasattr(recmap.Dataset, old) and hasattr(recmap.Dataset, new)


def test_the_table_names_fields_that_exist():
    for old, (argument, owner, field) in _renamed.MOVED.items():
        for function in recmap.open, recmap.index:
            parameters = inspect.signature(function).parameters
            assert argument in parameters and old not in parameters
        assert field in inspect.signature(getattr(recmap, owner)).parameters
    assert set(_renamed.INDEXING) <= inspect.signature(recmap.index).parameters.keys()
    assert len(inspect.signature(recmap.open).parameters) == 14


def test_arguments_that_are_fields_now(ds, tmp_path):
    """Each of 0.2.0 is obeyed, alone, with others of its object, and with the object."""
    path = ds.index_path
    trusted = "access=recmap.Reading(allow_absolute_paths=...)"
    options = lambda **named: recmap.open(path, **named)._options  # noqa: E731
    assert renamed(lambda: options(allow_absolute_paths=True), trusted).reading == recmap.Reading(
        allow_absolute_paths=True
    )
    given = {"access": "pread", "guard": True, "allow_absolute_paths": True, "shard_limit": 2}
    words = "access='read'", "Reading(guard=...)", trusted, "Reading(shard_limit=...)"
    assert renamed(lambda: options(**given), *words).reading == recmap.Reading(
        "read", guard=True, allow_absolute_paths=True, shard_limit=2
    )
    reading = recmap.Reading("direct", allow_absolute_paths=True)
    found = renamed(lambda: options(access=reading, check_index=True), "Reading(check_index=...)")
    assert (found.reading.access, found.reading.check_index) == ("direct", True)
    more = {"access": reading, "storage_options": {"region": "x"}, "allow_urls": True}
    words = "storage=recmap.Storage(options=...)", "storage=recmap.Storage(allow_urls=...)"
    storage = renamed(lambda: options(**more), *words).storage
    assert (dict(storage.options), storage.allow_urls) == ({"region": "x"}, True)
    index = tmp_path / "b.rmx"
    assert renamed(lambda: recmap.index(DIGITS, index, guard=True), "Reading(guard=...)")
    cached = {"cache_size": "1GB", "cache": tmp_path / "c", "allow_absolute_paths": True}
    words = "Storage(cache_size=...)", "Storage(cache=...)", trusted
    assert renamed(lambda: options(**cached), *words).storage.cache_size == "1GB"


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_mistakes_beside_old_arguments(ds):
    path, trusted = ds.index_path, {"allow_absolute_paths": True}
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        recmap.open(path, threads=2, foo=1)
    with pytest.raises(TypeError, match=r"storage must be recmap\.Storage"):
        recmap.open(path, storage={"region": "x"}, allow_urls=True)
    for wrong in None, {"a": 1}:
        with pytest.raises((TypeError, ValueError), match="access must be one of"):
            recmap.open(path, access=wrong, **trusted)


def test_options_are_copied(ds):
    """What the caller does with them later changes neither the data set nor its copies."""
    signed = "https://host/x?signature=1"
    given = {"region": "a", "client_kwargs": {"endpoint": "http://x"}, "urls": iter([signed])}
    trusted = recmap.Reading(allow_absolute_paths=True)
    storage = recmap.Storage(options=types.MappingProxyType(given))
    opened = recmap.open(ds.index_path, access=trusted, storage=storage)
    given["nonsense"] = given["client_kwargs"]["more"] = 1
    options = pickle.loads(pickle.dumps(opened))._options.storage.options
    assert options == {
        "region": "a",
        "client_kwargs": {"endpoint": "http://x"},
        "urls": [signed],
    }


def test_arguments_of_indexing(tmp_path):
    calls = []
    named = {"index": tmp_path / "a.rmx", "lift": ["label"], "threads": 1, "compression": "none"}
    named |= {"memory_limit": "64MiB", "missing": "null", "on_corrupt": "skip"}
    given = "compression=..., memory_limit=..., missing_values=..., progress=..., threads=..."
    build = f"recmap.index(shards, {str(named['index'])!r}, lift=..., on_bad_record=..., {given})"
    record = lambda *progress: calls.append(progress)  # noqa: E731
    words = "on_bad_record=", f"once: {build}. Then open the shards without them: recmap.open("
    ds = renamed(lambda: recmap.open(DIGITS, **named, progress=record), *words)
    assert len(ds) == 1797 and calls
    leave = f"open({given}) is about building an index, which exists: leave them out; the old"
    renamed(lambda: recmap.open(DIGITS, **named, progress=record), words[0], leave)
    missing = {"index": named["index"], "lift": ["label"], "missing": "null"}
    leave = "open(missing_values=...) is about building an index, which exists: leave it out; the"
    renamed(lambda: recmap.open(DIGITS, **missing), leave)
    renamed(lambda: recmap.open(DIGITS, progress=None, index=tmp_path / "b.rmx"), "without it")
    (tmp_path / "a.txt").write_text("a\nb\n")
    lines = {"framing": "lines", "access": "read", "threads": 2}
    for advice in (
        "once: recmap.index(shards, framing=..., access=..., threads=...). Then",
        "open(threads=...) is about building an index, which exists: leave it out; the old",
    ):
        renamed(lambda: recmap.open(tmp_path / "a.txt", **lines), advice)
    rebuild = (
        "open(threads=...) is about building an index, which rebuild=True does by itself: leave it "
        "out. If you need it, replace rebuild=True by recmap.index(shards, framing=..., "
        "access=..., threads=...), which keeps only the ids, columns and counts that it names, "
        "and then recmap.open(shards, framing=..., access=...); the old way"
    )
    renamed(lambda: recmap.open(tmp_path / "a.txt", **lines, rebuild=True), rebuild)
    ds[:3].save(tmp_path / "a.rmv")
    trusted = recmap.Reading(allow_absolute_paths=True)
    for source in ds.index_path, tmp_path / "a.rmv":
        leave = "open(threads=...) is about building an index, and this is one: leave it out;"
        renamed(lambda: recmap.open(source, access=trusted, threads=0), leave)  # noqa: B023
    with pytest.raises(TypeError, match="missing is the old name of missing_values"):
        recmap.open(DIGITS, missing="null", missing_values="null")


def test_old_arguments_still_work(ds, tmp_path):
    again = {"index": tmp_path / "again.rmx", "lift": ["label"]}
    renamed(lambda: recmap.open(DIGITS, **again, on_corrupt="skip"), "on_bad_record=")
    renamed(lambda: recmap.open(DIGITS, **again, on_corrupt="raise"), "on_bad_record=", "'error'")
    assert len(renamed(lambda: recmap.join({"a": ds, "b": ds}, on="id"), "by=")) == 1797
    loader = renamed(
        lambda: recmap.Loader(ds, 8, features=LABEL, on_error="substitute"), "on_bad_record="
    )
    assert loader._arguments["on_bad_record"] == "substitute"
    renamed(lambda: recmap.Loader(ds, 8, on_bad_record="raise"), "on_bad_record='error'")
    batch = renamed(lambda: ds.parse([1, 2], LABEL, on_error="collect"), "on_bad_record=")
    assert len(batch["label"]) == 2
    renamed(lambda: ds.annotate({"q": {3: 1}}, on="number", missing="null"), "by=", "values=")
    assert ds.columns["q"][3] == 1


def test_old_methods_still_work(ds):
    shares = {"a": 0.5, "b": 0.5}
    parts = renamed(lambda: ds.partition(shares, seed=3), "split()")
    expected = ds.split(shares, seed=3)
    assert {k: v.numbers.tolist() for k, v in parts.items()} == {
        k: v.numbers.tolist() for k, v in expected.items()
    }
    assert len(renamed(lambda: ds[:5].partition(shares=shares), "split()", "n=")) == 2
    with pytest.raises(AttributeError, match="'Dataset' object has no attribute 'partitoin'"):
        ds.partitoin(shares)


def test_both_names_are_an_error(ds):
    with pytest.raises(TypeError, match="on_error is the old name of on_bad_record"):
        recmap.Loader(ds, 8, on_error="skip", on_bad_record="skip")


def test_features_may_be_missing_under_that_name(ds):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Loader(ds, 8, features=LABEL, missing="ignore")


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (recmap.FixedLen, "FixedLen((), 'int64')"),
        (recmap.FixedLenSequence, "FixedLenSequence((), 'int64')"),
        (recmap.Sliced, "Sliced((), 'int64')"),
        (recmap.VarLen, "VarLen('int64')"),
    ],
)
def test_a_feature_without_a_dtype_is_int64(kind, call):
    with pytest.warns(DeprecationWarning, match=f"name the dtype: {re.escape(call)}") as caught:
        feature = kind()
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = kind(dtype="int64")
        assert feature == named and repr(feature) == call
        assert pickle.loads(pickle.dumps(feature)) == dataclasses.replace(feature) == named


def test_a_dtype_in_the_place_of_the_shape_is_only_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="takes the shape first"):
            recmap.FixedLen("float32")


# ---- The documentation has the names of today.

_PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
_OLD_PAGE = "from-0.2.md"  # on what the old names are
_OPTIONS = re.findall(r'\{"([a-z-]+)", "[a-z-]+"', (ROOT / "tools/terminal/renamed.c").read_text())


def old_keywords(function):
    """The names of 0.2.0 of arguments, for which the function has others."""
    parameters = inspect.signature(function).parameters
    old = {name for name, new in _renamed.ARGUMENTS.items() if new in parameters}
    old |= {name for name, (new, _, _) in _renamed.MOVED.items() if new in parameters}
    return old - parameters.keys()


_KEYWORDS = {
    **{name: old_keywords(getattr(recmap, name)) for name in ("open", "index", "merge", "Loader")},
    **{name: old_keywords(getattr(recmap, name)) for name in ("Writer", "join", "JoinedLoader")},
    **{name: old_keywords(getattr(recmap.Dataset, name)) for name in ("annotate", "parse", "lift")},
}
_KEYWORDS["open"] |= set(_renamed.INDEXING)


def old_names(code):
    """The names of 0.2.0 in code of Python, or in a command."""
    found = re.findall(rf"(?<![\w-])--(?:{'|'.join(_OPTIONS)})(?![\w-])", code)
    try:
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return found
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else None
        found += [word.arg for word in call.keywords if word.arg in _KEYWORDS.get(name, ())]
        found += (
            [name] if name in _renamed.METHODS and isinstance(call.func.value, ast.Name) else []
        )
    return found


def codes(text):
    """Blocks of code, and code within the lines."""
    yield from (block for _, block in re.findall(r"```(\w+)\n(.*?)```", text, re.S))
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    yield from (" ".join(code.split()) for _, code in re.findall(r"(`+)(.+?)\1", text, re.S))


def docstrings(path):
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]
    return "\n".join(ast.get_docstring(node) or "" for node in nodes)


def test_pages_and_docstrings_have_no_old_names():
    texts = {page: page.read_text() for page in _PAGES if page.name != _OLD_PAGE}
    texts |= {path: docstrings(path) for path in (ROOT / "python/recmap").rglob("*.py")}
    assert len(texts) > 100 and "on-corrupt" in _OPTIONS
    found = [
        (path, names)
        for path, text in texts.items()
        for code in codes(text)
        if (names := old_names(code))
    ]
    assert found == []
    page = next(page for page in _PAGES if page.name == _OLD_PAGE).read_text()
    assert {"on", "guard", "partition", "--on-corrupt"} <= {
        name for code in codes(page) for name in old_names(code)
    }
