"""Framings other than TFRecord, and compressed shards."""

import gzip
import multiprocessing
import os
import pickle
import subprocess
import sys
import tarfile
import zlib

import pytest
import recmap
from conftest import KEPT, flip, kept_of, write

LINES = [b"one,1", b"", b"caf\xc3\xa9", b"last,3"]
MADE = [b"%06d" % number for number in range(1000)]  # of one size, so that all framings have them


def fixed(payloads):
    return b"HD" + b"".join(payloads) + b"F"


def ofrecord(payloads):
    return b"".join(len(payload).to_bytes(8, "little") + payload for payload in payloads)


def own(payloads):
    return b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)


# How MADE is written, and the options to read it. PLUGIN is replaced by the path of the plugin.
PLUGIN = object()
KINDS = {
    "lines": (b"\n".join, {"framing": "lines"}),
    "crlf": (b"\r\n".join, {"framing": "lines"}),
    "ofrecord": (ofrecord, {"framing": "ofrecord"}),
    "fixed": (fixed, {"framing": "fixed:2,6,1"}),
    "own": (own, {"framing": PLUGIN}),
}
PACKERS = {"plain": bytes, "gzip": gzip.compress, "zlib": zlib.compress}


def opened(source, framing="auto", compression="auto", **reading):
    index = recmap.index(source, framing=framing, compression=compression)
    return recmap.open(index, framing=framing if "/" in str(framing) else "auto", **reading)


@pytest.fixture(params=[f"{kind}-{packer}" for kind in KINDS for packer in PACKERS])
def wish(request, tmp_path, plugin):
    """Two shards with MADE, and how to open them."""
    kind, packer = request.param.split("-")
    write, wish = KINDS[kind]
    for i, half in enumerate((MADE[:600], MADE[600:])):
        (tmp_path / f"made-{i}.bin").write_bytes(PACKERS[packer](write(half)))
    framing = plugin if wish["framing"] is PLUGIN else wish["framing"]
    compression = packer if packer == "zlib" else "auto"
    return {"source": tmp_path, "framing": framing, "compression": compression}


def test_every_framing_supports_all_operations(wish):
    ds = opened(**wish)
    assert len(ds) == len(MADE) and records(ds) == MADE
    assert [bytes(ds[number]) for number in (0, 599, 600, -1)] == [
        MADE[number] for number in (0, 599, 600, -1)
    ]
    numbers = recmap.Shuffled(len(ds), seed=3).at(0, range(len(ds)))
    assert records(ds.gather(numbers)) == [MADE[number] for number in numbers]
    assert records(ds[700:500:-7]) == MADE[700:500:-7]
    assert set(ds.columns["@length"].tolist()) == {6}
    report = ds.verify(progress=None)
    assert report["damage"] == [] and ds.info["records"] == len(MADE)
    assert [shard["records"] for shard in ds.shards] == [600, 400]
    assert len({(shard["framing"], shard["compression"]) for shard in ds.shards}) == 1
    assert records(opened(**wish, access="read")) == MADE
    assert opened(**wish).fingerprint == ds.fingerprint
    again = pickle.loads(pickle.dumps(ds[100:]))
    assert records(again) == MADE[100:]


def test_every_framing_shuffles_and_resumes(wish):
    ds = opened(**wish)
    numbers = recmap.Shuffled(len(ds), seed=3).at(0, range(len(ds)))
    expected = [MADE[number] for number in numbers]
    loader = recmap.Loader(ds, 64, shuffle=True, seed=3)
    seen = []
    for batch in loader:
        seen += records(batch)
        if len(seen) >= 300:
            break
    assert seen == expected[: len(seen)]
    state = loader.state_dict()
    resumed = recmap.Loader(pickle.loads(pickle.dumps(ds)), 50, shuffle=True, seed=3)
    resumed.load_state_dict(state)
    assert seen + [record for batch in resumed for record in records(batch)] == expected
    later = pickle.loads(pickle.dumps(loader))
    assert [record for batch in later for record in records(batch)] == expected[len(seen) :]


def test_every_framing_works_in_a_worker(wish):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    data = recmap.torch.MapDataset(opened(**wish))
    batches = torch.utils.data.DataLoader(
        data, 100, num_workers=1, collate_fn=list, multiprocessing_context="fork"
    )
    assert [record for batch in batches for record in batch] == MADE


@pytest.mark.parametrize("wish", ["own-gzip"], indirect=True)
def test_custom_framing_works_in_a_spawned_worker(wish):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    ds = opened(**wish)
    steps = recmap.torch.IterableDataset(recmap.Loader(ds, 100, shuffle=True, seed=3))
    batches = torch.utils.data.DataLoader(
        steps, None, num_workers=2, multiprocessing_context="spawn"
    )
    seen = [bytes(record) for batch in batches for record in batch]
    assert sorted(seen) == MADE
    assert seen == [MADE[n] for n in recmap.Shuffled(len(ds), seed=3).at(0, range(len(ds)))]


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", KINDS)
def test_verify_finds_damage_in_every_framing(kind, packer, tmp_path, plugin):
    write, wish = KINDS[kind]
    path = tmp_path / "made.bin"
    path.write_bytes(PACKERS[packer](write(MADE)))
    framing = plugin if wish["framing"] is PLUGIN else wish["framing"]
    compression = packer if packer == "zlib" else "auto"
    ds = opened(path, framing=framing, compression=compression)
    changed = [*MADE[:500], b"######", *MADE[501:]]
    path.write_bytes(PACKERS[packer](write(changed)))
    os.utime(path, ns=(os.stat(ds.index_path).st_mtime_ns,) * 2)
    with recmap.open(ds.index_path, framing=framing if kind == "own" else "auto") as again:
        assert again.verify(progress=None)["damage"]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines-0.txt"
    path.write_bytes(b"\n".join(LINES))
    return path


def records(ds):
    return [bytes(record) for record in ds]


def test_lines_need_their_framing(lines):
    with pytest.raises(recmap.Error, match="text"):
        recmap.open(lines)
    with recmap.open(lines, framing="lines") as ds:
        assert records(ds) == LINES
    for again in recmap.open(lines), recmap.open(f"{lines}.rmx"):
        assert records(again) == LINES
        assert records(pickle.loads(pickle.dumps(again))) == LINES


def test_appended_shards_use_the_framing_of_the_last_one(lines):
    recmap.open(lines, framing="lines", index=lines.with_name("x.rmx"))
    more = lines.with_name("lines-1.txt")
    more.write_bytes(b"more\n")
    ds = recmap.open([lines, more], index=lines.with_name("x.rmx"))
    assert records(ds) == [*LINES, b"more"]


def test_fixed_length_records(tmp_path):
    path = tmp_path / "fixed.bin"
    path.write_bytes(b"HD" + b"aaabbbccc" + b"F")
    assert records(recmap.open(path, framing="fixed:2,3,1")) == [b"aaa", b"bbb", b"ccc"]
    assert recmap.index(path, framing="fixed:2,9,1").endswith("fixed.bin.rmx")
    assert records(recmap.open(path)) == [b"aaabbbccc"]


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_another_framing_is_stale(lines):
    recmap.open(lines, framing="lines")
    for wish in {"framing": "fixed:0,1,0"}, {"compression": "gzip"}:
        with pytest.raises(recmap.StaleIndexError, match="is needed"):
            recmap.open(lines, **wish)
    ones = recmap.open(lines, framing="fixed:0,1,0", rebuild=True)
    assert len(ones) == lines.stat().st_size


def test_compression_is_detected_or_given(lines):
    packed = lines.with_name("packed.bin")
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    assert records(recmap.open(packed, framing="lines")) == LINES
    ones = opened(packed, framing="fixed:0,1,0", compression="none")
    assert len(ones) == packed.stat().st_size
    packed.write_bytes(zlib.compress(lines.read_bytes()))
    assert records(opened(packed, framing="lines", compression="zlib")) == LINES
    recmap.open(packed, framing="lines")


def test_a_custom_framing_is_pickled(tmp_path, plugin):
    path = tmp_path / "own.bin"
    path.write_bytes(b"".join(len(line).to_bytes(4, "big") + line for line in LINES))
    ds = recmap.open(path, framing=plugin)
    assert records(ds) == LINES
    assert records(recmap.open(ds.index_path, framing=plugin)) == LINES
    assert records(recmap.open(path, framing="size32be")) == LINES


def test_custom_framing_is_pickled(tmp_path, plugin):
    path = tmp_path / "own.bin"
    path.write_bytes(b"\0\0\0\3abc")
    code = "import pickle, sys; print(bytes(pickle.load(sys.stdin.buffer)[0]).decode())"
    pickled = pickle.dumps(recmap.open(path, framing=plugin))
    run = subprocess.run(
        [sys.executable, "-c", code], input=pickled, capture_output=True, check=True
    )
    assert run.stdout == b"abc\n"


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
@pytest.mark.parametrize(
    ("wish", "kind"),
    [
        ({"framing": "text"}, ValueError),
        ({"framing": "fixed:1"}, ValueError),
        ({"framing": ""}, ValueError),
        ({"framing": "./no-such.so"}, OSError),
        ({"framing": 3}, TypeError),
        ({"compression": "brotli"}, ValueError),
    ],
)
def test_wrong_framings_are_refused(lines, wish, kind):
    with pytest.raises(kind):
        recmap.open(lines, **wish)
    with pytest.raises(kind):
        recmap.index(lines, **wish)
    assert not lines.with_name(f"{lines.name}.rmx").exists()


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_index_contains_its_framings(lines):
    path = recmap.index(lines, framing="lines")
    for wish in {"framing": "lines"}, {"compression": "none"}:
        with pytest.raises(ValueError, match="open the shards"):
            recmap.open(path, **wish)


def test_changed_line_raises(lines):
    ds = recmap.open(lines, framing="lines")
    flip(lines, 0)
    assert len(ds.verify(progress=None)["damage"]) == 1


# ---- How much is kept of what compressed shards inflate to.


def test_span_keep_size_limits_memory(packed, payloads):
    assert kept_of(packed) == KEPT and records(packed) == payloads
    assert kept_of(recmap.open(packed.index_path)) == 1 << 30
    for kept in (1, 2**64 - 1):
        ds = recmap.open(packed.index_path, access=recmap.Reading(span_keep_size=kept))
        assert kept_of(ds) == kept and records(ds) == payloads
    for kept in (-1, 2**64):
        with pytest.raises(ValueError):
            recmap.open(packed.index_path, access=recmap.Reading(span_keep_size=kept))
    with pytest.raises(TypeError):
        recmap.open(packed.index_path, access=recmap.Reading(span_keep_size="1 GiB"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_span_keep_size_applies_in_other_processes(packed, method):
    assert kept_of(pickle.loads(pickle.dumps(packed[::-1]))) == KEPT
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(kept_of, [packed, packed[5:]]) == [KEPT, KEPT]


def test_zlib_streams_one_after_another_are_all_read(tmp_path, payloads):
    (plain,) = write(tmp_path, payloads[:10])
    image = plain.read_bytes()
    path = tmp_path / "twice.zlib"
    path.write_bytes(zlib.compress(image) + zlib.compress(image))
    for compression in ("auto", "zlib"):
        ds = opened(path, compression=compression)
        assert [bytes(record) for record in ds] == payloads[:10] * 2


def test_zeros_between_gzip_members_are_damage(tmp_path, payloads):
    (plain,) = write(tmp_path, payloads[:10])
    member = gzip.compress(plain.read_bytes())
    path = tmp_path / "x.gz"
    path.write_bytes(member + member + bytes(600))  # zeros after the last one are padding
    assert len(recmap.open(path)) == 20
    path.write_bytes(member + bytes(600) + member)
    with pytest.raises(recmap.CorruptRecordError, match="other bytes follow"):
        recmap.open(path, rebuild=True)
    with pytest.warns(UserWarning, match="skipped damage in 1 place"):
        ds = recmap.open(path, rebuild=True, on_bad_record="skip")
    assert [bytes(record) for record in ds] == payloads[:10] * 2


def test_an_empty_file_has_no_records_unless_it_must_be_compressed(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    for compression in ("auto", "none"):
        assert not len(opened(path, compression=compression))
    for compression in ("gzip", "zlib"):
        with pytest.raises(recmap.CorruptRecordError, match="ends inside the compressed stream"):
            opened(path, compression=compression)


def write_tfrecords(path, payloads):
    with recmap.Writer(path) as writer:
        for payload in payloads:
            writer.write(payload)


def tar_of(tmp_path):
    with tarfile.open(tmp_path / "made.tar", "w") as archive:
        for i in range(3):
            archive.addfile(tarfile.TarInfo(f"{i}.txt"))
    return (tmp_path / "made.tar").read_bytes()


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("on_bad_record", ["error", "skip"])
@pytest.mark.parametrize("is_remote", [False, True])
def test_a_file_of_another_framing_is_named(server, packer, on_bad_record, is_remote):
    """A framing that takes any bytes as records would number thousands of false ones."""
    tmp_path = server.folder / "train"
    write_tfrecords(tmp_path / "a.tfrecord", [b"x%d" % i for i in range(100)])
    contents = {
        "a TFRecord file": (tmp_path / "a.tfrecord").read_bytes(),
        "a tar archive": tar_of(tmp_path),
    }
    due = {"tar": "a tar archive", "lines": "a text file", "ofrecord": "an OFRecord file"}
    for found, content in contents.items():
        path = tmp_path / "shard"
        path.write_bytes(PACKERS[packer](content))
        for framing, asked in due.items():
            if asked == found:
                continue
            with pytest.raises(
                recmap.CorruptRecordError, match=f"is not {asked}: it is {found}"
            ) as info:
                recmap.index(
                    "s3://train/shard" if is_remote else path,
                    tmp_path / "a.rmx",
                    storage=recmap.Storage(options=server.options()),
                    framing=framing,
                    on_bad_record=on_bad_record,
                    compression={"plain": "none"}.get(packer, packer),
                )
            assert "framing" in str(info.value)
            assert not (tmp_path / "a.rmx").exists()


@pytest.mark.parametrize("name", ["a.tfrecord.gz", "a.tfrecord.zz", "a.zlib"])
def test_a_compressed_shard_without_bytes_is_damaged(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(recmap.CorruptRecordError, match="ends inside the compressed stream"):
        recmap.open(tmp_path / name, index=tmp_path / "a.rmx")
    write_tfrecords(tmp_path / "b.tfrecord", [b"x"])
    ds = recmap.open(
        [tmp_path / name, tmp_path / "b.tfrecord"], index=tmp_path / "a.rmx", on_bad_record="skip"
    )
    assert len(ds) == 1 and bytes(ds[0]) == b"x"
    assert "ends inside the compressed stream" in str(ds.info["damage"])


def test_a_plain_shard_without_bytes_has_no_records(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"")
    write_tfrecords(tmp_path / "b.tfrecord", [b"x"])
    paths = [tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"]
    assert recmap.open(paths, index=tmp_path / "a.rmx").info["damage"] == []
