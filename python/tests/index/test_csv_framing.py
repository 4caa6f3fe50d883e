"""The framing csv: records are the rows that Python's csv module reads, in any form of file."""

import contextlib
import csv
import gzip
import io
import itertools
import random
import warnings
import zlib

import pytest
import recmap
from object_server import ObjectServer

SEPARATORS = {"": ",", ":tab": "\t", ":semicolon": ";", ":pipe": "|"}
SEED = 20260101


@pytest.fixture(autouse=True)
def long_fields():
    former = csv.field_size_limit(1 << 30)
    yield
    csv.field_size_limit(former)


def rows_of(text, delimiter=",", *, has_quotes=True):
    """The rows that the csv module reads. It sees a lone CR as the end of a row."""
    assert "\r" not in text.replace("\r\n", "\n")
    quoting = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    return [row or [""] for row in reader]


@contextlib.contextmanager
def _quiet():
    """Without the warnings about files that lack a line feed or have damage."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def random_text(made, count):
    """Text with every oddity: quotes anywhere, quoted line feeds, CR LF, empty rows, NUL, bytes
    beyond ASCII."""
    alphabet = ['"', '"', '""', ",", ",", "\n", "\n", "\r\n", "a", "bc", " ", ";", "\t", "é", "1.5"]
    return "".join(made.choice(alphabet) for _ in range(count))


def open_text(folder, text, framing="csv,noheader", name="t.csv", **options):
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(data)
    return recmap.open(
        folder / name, framing=framing, index=folder / "t.rmx", rebuild=True, **options
    )


def is_closed(text):
    """Returns true if no quote is open at the end, by the same rules as the csv module."""
    state = "start"
    for c in text:
        if state == "quoted":
            state = "closed" if c == '"' else "quoted"
        elif c == '"' and state in ("start", "closed"):
            state = "quoted"
        else:
            state = "start" if c in ",\n" else "plain"
    return state != "quoted"


def test_records_are_the_rows_of_the_csv_module(tmp_path):
    made = random.Random(SEED)
    for _ in range(400):
        text = random_text(made, made.randrange(1, 60))
        if not is_closed(text):
            continue
        with _quiet():
            ds = open_text(tmp_path, text)
        records = [bytes(record).decode() for record in ds]
        ds.close()
        expected = rows_of(text)
        # What a record is by itself must read as the same row.
        assert [rows_of(record)[0] if record else [""] for record in records] == expected, text


@pytest.mark.parametrize("kind", SEPARATORS)
def test_quotes_open_after_the_separator_only(tmp_path, kind):
    separator = SEPARATORS[kind]
    text = f'a{separator}"b\nc"\nd"e{separator}f\n'
    ds = open_text(tmp_path, text, f"csv{kind},noheader")
    assert [bytes(record).decode() for record in ds] == text.rstrip("\n").replace(
        '"\nd', '"\0d'
    ).split("\0")
    assert len(rows_of(text, separator)) == len(ds)


def test_noquotes_ends_rows_at_every_line_feed(tmp_path):
    ds = open_text(tmp_path, 'a,"b\nc",d\n', "csv,noquotes,noheader")
    assert [bytes(record) for record in ds] == [b'a,"b', b'c",d']


def test_header_is_not_a_record(tmp_path):
    ds = open_text(tmp_path, '\ufeff"a\nb",c\r\n1,2\r\n3,4', "csv")
    assert [bytes(record) for record in ds] == [b"1,2", b"3,4"]
    assert ds._header()[0] == b'"a\nb",c'
    assert ds.select([1])._header()[0] == b'"a\nb",c'
    assert recmap.open(tmp_path / "t.rmx")._header()[0] == b'"a\nb",c'


def test_header_must_be_the_same_in_all_shards(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")
    with pytest.raises(recmap.StateMismatchError, match=r"b\.csv.*`z`.*a\.csv it is `y`") as caught:
        recmap.open([tmp_path / "a.csv", tmp_path / "b.csv"], framing="csv")
    assert "noheader" in caught.value.advice
    (tmp_path / "b.csv").write_text("x,y,z\n1,2,3\n")
    with pytest.raises(recmap.StateMismatchError, match=r"b\.csv.*3 fields.*a\.csv has 2"):
        recmap.open([tmp_path / "a.csv", tmp_path / "b.csv"], framing="csv")
    (tmp_path / "b.csv").write_text('x,"y"\r\n3,4\r\n')
    ds = recmap.open([tmp_path / "a.csv", tmp_path / "b.csv"], framing="csv")
    assert [bytes(record) for record in ds] == [b"1,2", b"3,4"]


def test_header_of_an_appended_shard_must_be_that_of_the_index(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    recmap.open(tmp_path, framing="csv", index=tmp_path / "i.rmx").close()
    (tmp_path / "b.csv").write_text("y,x\n1,2\n")
    with pytest.raises(recmap.StateMismatchError, match="header line"):
        recmap.open(tmp_path, framing="csv", index=tmp_path / "i.rmx")
    (tmp_path / "b.csv").write_text("x,y\n3,4\n")
    ds = recmap.open(tmp_path, framing="csv", index=tmp_path / "i.rmx")
    assert [bytes(record) for record in ds] == [b"1,2", b"3,4"] and ds._header()[0] == b"x,y"


def test_merged_indexes_have_the_same_header(tmp_path):
    for name, text in {"a": "x,y\n1,2\n", "b": "x,y\n3,4\n", "c": "x,z\n5,6\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
        recmap.index(tmp_path / f"{name}.csv", tmp_path / f"{name}.rmx", framing="csv")
    recmap.merge(tmp_path / "ab.rmx", [tmp_path / "a.rmx", tmp_path / "b.rmx"])
    assert recmap.open(tmp_path / "ab.rmx")._header()[0] == b"x,y"
    with pytest.raises(recmap.StateMismatchError, match=r"c\.rmx.*`z`.*a\.rmx it is `y`"):
        recmap.merge(tmp_path / "ac.rmx", [tmp_path / "a.rmx", tmp_path / "c.rmx"])


def test_annotating_keeps_the_header(tmp_path):
    ds = open_text(tmp_path, "x,y\n1,2\n3,4\n", "csv")
    ds.annotate({"good": [0, 1]})
    assert recmap.open(tmp_path / "t.rmx")._header()[0] == b"x,y"


def test_shard_that_grows_has_no_second_header(tmp_path):
    open_text(tmp_path, "x,y\n1,2\n", "csv", id="x").close()
    with (tmp_path / "t.csv").open("a") as file:
        file.write('"3\n",4\n')
    ds = recmap.open(tmp_path / "t.csv", framing="csv", index=tmp_path / "t.rmx", id="x")
    assert [bytes(record) for record in ds] == [b"1,2", b'"3\n",4']
    assert ds.find("3\n") == 1


def big_text(made, count):
    """A megabyte with quoted line feeds, and quoted text that looks like rows."""
    lines = []
    for number in range(count):
        lines.append(f'{number},"say ""{made.random()}"",\n{number},plain,\n,"",x",tail{number}\n')
        lines.append(f"{number},simple,{made.random()}\n")
    return "".join(lines)


@pytest.mark.parametrize("packer", [bytes, gzip.compress, zlib.compress])
def test_every_form_of_file_gives_the_same_records(tmp_path, packer):
    text = "a,b,c\n" + big_text(random.Random(1), 9000)
    compression = "zlib" if packer is zlib.compress else "auto"
    (tmp_path / "t.csv").write_bytes(packer(text.encode()))
    path = recmap.index(tmp_path, framing="csv", compression=compression)
    with recmap.open(path) as ds:
        records = [bytes(record).decode() for record in ds.gather(range(len(ds)))]
    assert [rows_of(record)[0] for record in records] == rows_of(text)[1:]
    with ObjectServer(tmp_path) as server:
        url = f"{server.url}/t.csv"
        remote = recmap.index([url], tmp_path / "r.rmx", framing="csv", compression=compression)
        assert len(recmap.open(remote, storage=recmap.Storage(allow_urls=True))) == len(records)


def test_threads_do_not_change_the_index(tmp_path):
    """Segments begin anywhere, also within quoted text that looks like rows."""
    made = random.Random(2)
    quoted = "".join(f"{made.random()},x\n" for _ in range(4000)).replace('"', "")
    text = "a,b,c\n" + big_text(made, 20000) + f'1,"{quoted * 40}",x\n' + big_text(made, 20000)
    (tmp_path / "t.csv").write_text(text)
    indexes = []
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.rmx"
        recmap.index(tmp_path / "t.csv", path, framing="csv", threads=threads, id="a")
        indexes.append(path.read_bytes())
    assert indexes[0] == indexes[1] == indexes[2]
    with recmap.open(tmp_path / "1.rmx") as ds:
        assert len(ds) == len(rows_of(text)) - 1


# ---- Bad input.


def test_open_quote_is_damage_named_with_its_byte(tmp_path):
    text = 'a,b\n1,"x\n2,y\n3,z\n'
    with pytest.raises(recmap.CorruptRecordError) as caught:
        open_text(tmp_path, text, "csv")
    assert "quote at byte 2 of the row is not closed" in str(caught.value)
    assert caught.value.offset == 4
    with _quiet():
        ds = open_text(tmp_path, text, "csv", on_bad_record="skip")
    assert [bytes(record) for record in ds] == [b"2,y", b"3,z"]  # one row is lost, not the rest
    assert [(d["offset"], d["length"]) for d in ds.info["damage"]] == [(4, 5)]


def test_open_quote_at_the_first_byte(tmp_path):
    text = '"' + "x,y\n" * 1000
    for framing in ("csv", "csv,noheader"):
        with pytest.raises(recmap.CorruptRecordError, match="quote at byte 0") as caught:
            open_text(tmp_path, text, framing)
        assert caught.value.offset == 0
    with _quiet():
        ds = open_text(tmp_path, text, "csv,noheader", on_bad_record="skip")
    assert len(ds) == 999


@pytest.mark.parametrize("count", [3, 5000])
def test_rows_that_never_close_are_searched_once(tmp_path, count):
    """Each line opens a quote that no other closes: the search for its end must not start again at
    each of them, for 64 MiB."""
    text = 'x,good\n"a","\n' * count + '"a","\n' * (40 * count)
    with _quiet():
        ds = open_text(tmp_path, text, "csv,noheader", on_bad_record="skip")
    assert len(ds) == count and {bytes(record) for record in ds} == {b"x,good"}
    damage = ds.info["damage"]
    assert sum(d["length"] for d in damage) + 7 * count == len(text)
    for threads in (1, 3):
        with _quiet():
            recmap.index(
                tmp_path / "t.csv",
                tmp_path / "u.rmx",
                framing="csv,noheader",
                on_bad_record="skip",
                threads=threads,
            )
        assert (tmp_path / "u.rmx").read_bytes() == (tmp_path / "t.rmx").read_bytes()


def test_damage_in_long_files_does_not_depend_on_threads(tmp_path):
    made = random.Random(3)
    good = "".join(f"{made.random()},{made.random()}\n" for _ in range(60000))
    text = good + '1,"open\n' + good + good
    (tmp_path / "t.csv").write_text(text)
    found = []
    for threads in (1, 4):
        path = tmp_path / f"{threads}.rmx"
        with _quiet():
            recmap.index(
                tmp_path / "t.csv",
                path,
                framing="csv,noheader",
                on_bad_record="skip",
                threads=threads,
            )
        found.append(path.read_bytes())
    assert found[0] == found[1]
    with recmap.open(tmp_path / "1.rmx") as ds:
        assert len(ds) == 180000 and len(ds.info["damage"]) == 1


def test_quoted_row_of_more_than_64_mib_is_damage(tmp_path):
    text = b'a,b\n"' + b"x" * (65 << 20) + b'",y\n1,2\n'
    (tmp_path / "t.csv").write_bytes(text)
    with pytest.raises(recmap.CorruptRecordError, match="within 64 MiB"):
        recmap.index(tmp_path / "t.csv", framing="csv")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_open_quote_in_a_long_file(tmp_path, name):
    pack = gzip.compress if name.endswith("gz") else bytes
    rest = b"x,y\n" * (17 << 20)
    (tmp_path / name).write_bytes(pack(b'a,b\n1,2\n3,"' + rest))
    with pytest.raises(
        recmap.CorruptRecordError, match="byte 2 of the row is not closed within 64"
    ):
        recmap.index(tmp_path / name, framing="csv")
    (tmp_path / name).write_bytes(pack(b'"' + rest))
    with pytest.raises(
        recmap.CorruptRecordError, match="byte 0 of the row is not closed"
    ) as caught:
        recmap.index(tmp_path / name, framing="csv")
    assert caught.value.offset == 0


def test_odd_files(tmp_path):
    assert [bytes(r) for r in open_text(tmp_path, "a\n\0,1\n\n x\n", "csv")] == [
        b"\0,1",
        b"",
        b" x",
    ]
    with _quiet():
        for text in (b"", b"\xef\xbb\xbf", b"a,b", b"a,b\n", b"\n"):
            assert len(open_text(tmp_path, text, "csv")) == 0
        assert [bytes(r) for r in open_text(tmp_path, b"\xef\xbb\xbfa")] == [b"a"]
        assert [bytes(r) for r in open_text(tmp_path, b"a\r")] == [b"a\r"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"a,b\r1,2\r3,4\r", 3),
        (b'"a","b"\r"1","2"\r', 7),
        (b"\xef\xbb\xbfa\r" + b"12345\r" * 400_000, 4),
        (b"a,b\rc\n1,2,3\n", 3),
    ],
)
def test_lines_that_end_in_carriage_returns_only(tmp_path, text, offset):
    with pytest.raises(
        recmap.CorruptRecordError, match=r"not CR alone(.|\n)*convert the file"
    ) as it:
        open_text(tmp_path, text, "csv")
    assert "t.csv" in str(it.value) and it.value.offset == offset


def test_carriage_returns_that_a_header_may_have(tmp_path):
    for text in (b'a,"b\rc"\n1,2\n', b"a,b\r\n1,2\r\n"):
        assert len(open_text(tmp_path, text, "csv")) == 1
    with _quiet():
        assert len(open_text(tmp_path, b"a,b\r", "csv")) == 0


def test_row_of_a_million_fields(tmp_path):
    count = 10**6
    names = ",".join(f"f{i}" for i in range(count))
    text = f"{names}\n{'7,' * (count - 1)}8\n"
    ds = open_text(tmp_path, text, "csv", id=f"f{count - 1}")
    rows = recmap.Csv({"x": recmap.FixedLen((), "int8", key=f"f{count - 1}")})
    assert ds.parse([0], rows)["x"].tolist() == [8] and ds.find("8") == 0


def test_misspelt_framing_is_advised(tmp_path):
    for framing in ("csv:colon", "csv,quotes", "csv:comma,noheader,noquotes"):
        with pytest.raises(recmap.InvalidError, match="no framing") as caught:
            open_text(tmp_path, "a\n1\n", framing)
        assert "csv[:comma|tab|semicolon|pipe][,noquotes][,noheader]" in caught.value.advice


def test_comma_is_the_same_framing(tmp_path):
    open_text(tmp_path, "a\n1\n", "csv:comma").close()
    path = {"framing": "csv", "index": tmp_path / "t.rmx"}
    assert len(recmap.open(tmp_path / "t.csv", **path)) == 1


def test_split_points(tmp_path):
    """A file that is cut anywhere between two rows, into shards, has the same rows."""
    made = random.Random(4)
    rows = ["1,2\n", '"a\n",b\r\n', ",\n", '"""",x\n', "tail,é\n"]
    for cut in itertools.product(range(len(rows) + 1), repeat=2):
        first, second = sorted(cut)
        parts = [rows[:first], rows[first:second], rows[second:]]
        folder = tmp_path / f"{cut[0]}-{cut[1]}-{made.random()}"
        folder.mkdir()
        for i, part in enumerate(parts):
            (folder / f"s-{i}.csv").write_bytes("".join(part).encode())
        with _quiet():
            ds = recmap.open(folder, framing="csv,noheader")
        expected = [row.rstrip("\r\n") if row[0] != '"' else row.rstrip() for row in rows]
        assert [bytes(record).decode() for record in ds] == expected


def test_lifting_columns_later(tmp_path):
    text = "id,size,word\n" + "".join(f"r{i},{i},w{i}\n" for i in range(9)) + "r9,2.5,\n"
    with open_text(tmp_path, text, "csv", id="id") as ds:
        ds.lift(["size"]).lift({"word": "none"})
        assert ds.columns["size"].tolist() == [*range(9), 2.5]
        assert ds.columns["word"].tolist()[7:] == [b"w7", b"w8", b"none"]
        assert ds.find("r5") == 5 and ds[5] == b"r5,5,w5"
        with pytest.raises(recmap.FeatureError, match=r'no field "siz"(.|\n)*"size"'):
            ds.lift(["siz"])
        rows = recmap.Csv({"id": recmap.FixedLen((), bytes)})
        with pytest.raises(TypeError, match="when an index is built"):
            ds.lift({"id": rows["id"]})


def test_lifting_members_later(tmp_path):
    text = '{"a": {"b": 3}, "c": "x"}\n{"a": {"b": 4}}\n'
    with open_text(tmp_path, text, "lines", name="t.jsonl") as ds:
        ds.lift(["a.b"]).lift(["c"], missing_values="null")
        assert ds.columns["a.b"].tolist() == [3, 4]
        assert ds.columns["c"].tolist() == [b"x", None]


def test_header_must_be_the_same_in_all_concatenated_sets(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("y,x\n3,4\n")
    (tmp_path / "c.csv").write_text('"x",y\n5,6\n')
    a, b, c = (recmap.open(tmp_path / f"{name}.csv", framing="csv") for name in "abc")
    bare = recmap.open(tmp_path / "a.csv", framing="csv,noheader", index=tmp_path / "bare.rmx")
    with pytest.raises(
        recmap.StateMismatchError, match=r"b\.csv\.rmx.*`y`.*a\.csv.rmx it"
    ) as caught:
        recmap.concat([a, b])
    assert "different fields" in caught.value.advice
    for pair in ([a, bare], [bare, a]):
        with pytest.raises(recmap.StateMismatchError, match=r"bare\.rmx.*no header.*a\.csv.rmx"):
            recmap.concat(pair)
    rows = recmap.Csv({"y": recmap.FixedLen((), "int64")})
    assert recmap.concat([a, c]).parse(range(2), rows)["y"].tolist() == [2, 6]
