"""Keyword arguments that do not exist: the error says which one is probably meant."""

import importlib
import inspect
import pickle

import pytest
import recmap
from recmap._base import names as _names

# Public names that are not called by users with keyword arguments.
NOT_CALLED = {
    *("BytesColumn", "ColumnBatch", "Columns", "Dataset", "ImageColumn", "Joined", "Order"),
    *("RaggedColumn", "RecordBatch", "RowBatch", "SparseColumn", "__version__"),
    *("decode_example", "encode_example", "encode_sequence_example"),
    *(name for name in recmap.__all__ if name.endswith("Error")),
}
METHODS = [
    *("annotate", "duplicates", "features", "gather", "lift", "parse", "parse_sequence"),
]
CALLED = {
    **{name: getattr(recmap, name) for name in recmap.__all__ if name not in NOT_CALLED},
    **{f"Dataset.{name}": getattr(recmap.Dataset, name) for name in METHODS},
    "Loader.load_state_dict": recmap.Loader.load_state_dict,
}
FRAMEWORKS = {
    "arrow": ("table", "reader"),
    "grain": ("DataSource", "JoinedSource", "Sampler", "Ordered", "Batches"),
    "huggingface": ("dataset",),
    "metrics": ("live", "prometheus", "scalars"),
    "ray": ("Datasource", "index"),
    "tensorflow": ("dataset",),
    "torch": ("IterableDataset", "JoinedLoader", "Loader", "MapDataset", "Sampler"),
}


def misspelt(function):
    """(a keyword that the function takes, a misspelling of it)."""
    code = inspect.unwrap(function.__init__ if isinstance(function, type) else function).__code__
    first = code.co_posonlyargcount
    for name in code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]:
        if len(name) > 3 and name != "self":
            yield name, name[:2] + name[1:]


def check(function):
    for name, wrong in misspelt(function):
        with pytest.raises(TypeError) as raised:
            function(**{wrong: None})
        message = str(raised.value)
        assert f"got an unexpected keyword argument {wrong!r}. Did you mean {name!r}?" in message


@pytest.mark.parametrize("function", CALLED.values(), ids=CALLED)
def test_misspelt_arguments_are_named(function):
    check(function)


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in FRAMEWORKS for name in FRAMEWORKS[module]]
)
def test_misspelt_arguments_of_frameworks(module, name):
    try:
        found = importlib.import_module(f"recmap.{module}")
    except ImportError as error:
        pytest.skip(f"needs {error.name}")
    check(getattr(found, name))


MEANT = [
    ("open", "shuffle", r"open\(\) got .* 'shuffle': recmap\.Loader takes shuffle=\.\.\."),
    ("open", "batch_size", r"recmap\.Loader takes batch_size=\.\.\."),
    ("open", "drop_last", r'recmap\.Loader takes last="drop"'),
    ("index", "index", r"write path=\.\.\."),
    ("index", "features", r"recmap\.Loader takes features=\.\.\."),
    ("Loader", "drop_last", r'Loader\(\) got an .* \'drop_last\': write last="drop"'),
    ("Loader", "num_workers", r"write threads=\.\.\.: recmap reads in threads, not in worker pro"),
    ("Loader", "buffer_size", "write shuffle=True, which shuffles a whole epoch without a buff"),
    ("Loader", "lift", r"recmap\.open takes lift=\.\.\."),
    ("Loader", "pin_memory", r"recmap\.torch\.Loader takes pin_memory=\.\.\."),
    ("JoinedLoader", "num_workers", r"JoinedLoader\(\) got .*write threads="),
    ("FixedLen", "default_value", r"Did you mean 'default'\?"),
    ("open", "cache_dir", r"recmap\.Storage takes cache=\.\.\."),
    ("index", "rebild", r"recmap\.open takes rebuild=\.\.\."),
    ("Loader", "zebra", "got an unexpected keyword argument 'zebra'$"),
]


@pytest.mark.parametrize(("name", "wrong", "message"), MEANT)
def test_arguments_of_other_libraries(name, wrong, message):
    with pytest.raises(TypeError, match=message):
        getattr(recmap, name)(**{wrong: None})


def test_arguments_that_other_classes_of_torch_take(digits):
    torch = pytest.importorskip("recmap.torch")
    with pytest.raises(TypeError, match=r"'shufle': recmap\.Loader takes shuffle=\.\.\.$"):
        torch.Sampler(recmap.Sequential(4), shufle=True)
    with pytest.raises(TypeError, match=r"'shufle': recmap\.Loader takes shuffle=\.\.\.$"):
        torch.IterableDataset(recmap.Loader(digits, 4), shufle=True)


def test_shares_as_arguments(digits):
    message = r"pass the shares as a dict, such as \{\"train\": 0\.9"
    with pytest.raises(TypeError, match=message):
        digits.split(train=0.9, val=0.1)
    with pytest.raises(TypeError, match=r"Did you mean 'seed'\?"):
        digits.split({"train": 1}, sede=1)


def test_methods_of_other_libraries(digits):
    joined = recmap.join({"a": digits, "b": digits})
    for loader in (recmap.Loader(digits, 4), recmap.JoinedLoader(joined, 4)):
        assert not hasattr(loader, "set_epoch")
        with pytest.raises(AttributeError, match=r"no attribute 'set_epoch': .* call seek\(epoch"):
            loader.set_epoch(3)
        with pytest.raises(AttributeError, match=r"no attribute 'zebra'$"):
            loader.zebra()


def test_the_tables_name_arguments_that_exist():
    pytest.importorskip("torch")
    accepted = {
        "recmap.Loader": recmap.Loader,
        "recmap.torch.Loader": recmap.torch.Loader,
        "recmap.open": recmap.open,
        "recmap.Storage": recmap.Storage,
        "recmap.index": recmap.index,
    }
    for owner, names in _names.OWNERS.items():
        assert {*names} <= {*inspect.signature(accepted[owner]).parameters}
    for meant, _ in _names._FOREIGN.values():
        assert any(meant in inspect.signature(each).parameters for each in accepted.values())


def test_signatures_and_help_are_those_of_the_functions():
    assert list(inspect.signature(recmap.Shuffled).parameters) == ["n", "seed"]
    assert inspect.signature(recmap.open).parameters["rebuild"].default is False
    assert list(inspect.signature(recmap.Dataset.parse).parameters)[:3] == [
        *("self", "items", "features")
    ]
    assert recmap.open.__doc__.startswith("Opens TFRecord files as a data set.")
    assert pickle.loads(pickle.dumps(recmap.open)) is recmap.open
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        recmap.Shuffled()


def test_errors_about_arguments_of_a_method_name_the_public_class():
    owners = [kind for kind in recmap.Dataset.__mro__ if kind.__module__.startswith("recmap.")]
    methods = [method for kind in owners for method in vars(kind).items()]
    for name, method in methods:
        if inspect.isfunction(method) and method.__module__.startswith("recmap._dataset"):
            with pytest.raises(TypeError, match=rf"^Dataset\.{name}\(\) missing \d required"):
                method()
