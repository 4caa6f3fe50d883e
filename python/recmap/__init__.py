"""recmap: random access, true shuffle and exact resume for TFRecord files.

    import recmap

    ds = recmap.open("train-*.tfrecord")            # indexed on first use
    record = ds[12345]                              # a memoryview into the mapped shard: no copy
    loader = recmap.Loader(ds, batch_size=256, shuffle=True, seed=7)
    for batch in loader:                            # one epoch, in a true random order
        state = loader.state_dict()                 # resume anywhere: loader.load_state_dict(state)

Threads: everything here is safe to use from many threads at once, also without the GIL. Each
version of free-threaded CPython needs a build of its own, because it lacks the stable ABI.

Processes: data sets can be used in a child after a fork. Loaders cannot: pickle them instead. Only
one interpreter of a process can import the package.

Interrupts: Ctrl-C stops indexing, `verify`, `schema`, `gather`, `parse`, `Order.at` and waiting for
a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base.imports import import_framework as _framework
from ._base.imports import import_module as _module
from ._base.imports import is_installed as _is_installed

if TYPE_CHECKING:
    from . import arrow as arrow
    from . import grain as grain
    from . import huggingface as huggingface
    from . import metrics as metrics
    from . import ray as ray
    from . import spark as spark
    from . import storage as storage
    from . import tensorflow as tensorflow
    from . import torch as torch
    from . import webdataset as webdataset
    from ._public import *  # noqa: F403

    __version__: str


def _names() -> dict[str, Any]:
    """The public names and their values. They are imported when one of them is first used: most of
    the time goes into NumPy."""
    values = {n: value for n, value in vars(_module("_public")).items() if not n.startswith("_")}
    return {**values, "__version__": _module("_recmap").version}


def _value_of(name: str) -> Any:
    if name == "__version__":  # without the others
        return _module("_recmap").version
    if not name.startswith("_") and _is_installed(f"{__name__}.{name}"):
        return _framework(name)
    names = {} if name.startswith("_") and name != "__all__" else _names()
    if name == "__all__":
        return list(names)
    if name in names:
        return names[name]
    ours = name.removesuffix("Feature")  # of tf.io: FixedLenFeature
    advice = f": write recmap.{ours}, or pass tf.io.{name}" if ours in names else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")


if not TYPE_CHECKING:  # type checkers would take any name for a known one

    def __getattr__(name: str) -> Any:
        value = globals()[name] = _value_of(name)  # the next access does not come here
        return value


def __dir__() -> list[str]:
    """The public names and modules, for completion."""
    import pkgutil

    modules = {module.name for module in pkgutil.iter_modules(__path__)}  # noqa: F405
    return sorted({*_names(), *(name for name in modules if not name.startswith("_"))})
