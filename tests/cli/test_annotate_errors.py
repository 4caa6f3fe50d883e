"""annotate: errors, after which the index is unchanged."""

import resource

from annotate_helpers import COUNT, DONE, Annotated
from support import example, tfrecord


class Errors(Annotated):
    def csv(self, text):
        self.write("s.csv", text)
        return ["--column", "s=s.csv"]

    def test_a_repeated_key_of_many_records(self):
        """A value for each record and row would be four million, which do not fit the limit."""
        count = 2000
        self.write("b.tfrecord", tfrecord([example(id="one")] * count))
        self.index(
            *("--id", "id", "b.tfrecord"),
            err="recmap: b.rmx: the ids of 'id' repeat: 1 different one in 2000 records; "
            "name a feature that tells records apart with --id\n",
        )
        self.write("s.csv", "id,s\n" + "one,1\n" * count)
        self.check(
            *("annotate", "b.rmx", "--column", "s=s.csv"),
            status=2,
            err="recmap: s.csv: line 3: duplicate id, first used in line 2\n"
            "  give each record one value\n",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
        )

    def test_unmatched_rows_are_left_out(self):
        rows = "".join(f"id-{i},{i}\n" for i in range(COUNT))
        column = self.csv(f"id,s\nx,1\n{rows}id-40,1\n")
        self.check(
            *("annotate", "a.rmx", *column, "--unmatched", "ignore"),
            err="recmap: 2 rows ignored: no record has the key\n" + DONE.format(1, 0, 0),
        )
        self.where("s == 7", [7])
        self.fails(*self.csv(f"id,s\n{rows}id-3,1\n"), "--drop", "s", "--unmatched", "ignore", err=(
            "s.csv: line 42: duplicate id, first used in line 5\n  give each record one value"
        ))  # fmt: skip
        self.write("t.csv", "id,t\nx,1\ny,2\nz,3\n")
        self.fails("--column", "t=t.csv", "--unmatched", "ignore", err=(
            't.csv: line 2: no record has the id "x", nor the key of any of the other 2 rows\n'
            '  check what the keys of column "t" are: ids or numbers, and of these records'
        ))  # fmt: skip
        self.check_wrong(
            *("annotate", "a.rmx", *column, "--unmatched", "x"),
            what="invalid --unmatched 'x': use error or ignore",
        )
        self.check_wrong(
            *("annotate", "a.rmx", "--drop", "s", "--unmatched", "ignore"),
            what="--unmatched needs --column",
        )

    def test_wrong_keys_are_named_with_their_line(self):
        rows = "".join(f"id-{i},{i}\n" for i in range(COUNT))
        self.fails(
            *self.csv(f"id,s\n{rows}id-40,1\n"),
            err=(
                's.csv: line 42: no record has the id "id-40"\n'
                "  remove the rows of other records, or ignore them (`--unmatched ignore`); "
                'ids are those of feature "id"'
            ),
        )
        self.fails(
            *self.csv(f"id,s\nx,1\n{rows}y,1\nz,1\n"),
            err=(
                's.csv: line 2: no record has the id "x" (and 2 more rows have a key that no '
                "record has)\n  remove the rows of other records, or ignore them "
                "(`--unmatched ignore`); "
                'ids are those of feature "id"'
            ),
        )
        self.fails(
            *self.csv(f"id,s\n{rows}id-3,1\n"),
            err=(
                "s.csv: line 42: duplicate id, first used in line 5\n  give each record one value"
            ),
        )
        self.fails(
            *self.csv("id,s\n,1\n"),
            err="s.csv: line 2: the row has no id\n  give the row one, or remove it",
        )
        self.fails(
            *self.csv("number,s\n40,1\n"),
            err=(
                "s.csv: line 2: no record has the number 40\n"
                "  there are 40 records, numbered from 0"
            ),
        )
        self.fails(
            *self.csv("number,s\n-1,1\n"),
            err=(
                "s.csv: line 2: no record has the number -1\n"
                "  there are 40 records, numbered from 0"
            ),
        )
        self.fails(
            *self.csv("number,s\n1.5,1\n"),
            err="s.csv: line 2: 1.5 is not a record's number\n"
            '  records are numbered from 0; a field of ids is named "id"',
        )
        self.index("-o", "a.rmx", "a-0.tfrecord", lost="--id id --lift label --count label")
        self.fails(
            *self.csv("id,s\nid-0,1\n"),
            err=(
                "a.rmx: the index has no ids\n  name records by their numbers, or build the index "
                "with `recmap index --id FEATURE`"
            ),
        )

    def test_wrong_values_are_named_with_their_line(self):
        advice = "\n  correct the value, or leave the field empty if the value is missing"
        self.fails(
            *self.csv(f"number,s\n0,{2**64 - 5}\n"),
            err=f"s.csv: line 2: {2**64 - 5} is beyond int64 (-2^63 to 2^63 - 1)\n  write it as "
            "-5, the int64 with the same bits, or give JSON lines with texts",
        )
        self.fails(
            *self.csv(f"number,s\n0,{-(2**63) - 1}\n"),
            err=f"s.csv: line 2: {-(2**63) - 1} is beyond int64 (-2^63 to 2^63 - 1)\n  correct the "
            "value, or give JSON lines with texts",
        )
        self.write("s.jsonl", b'{"number": 0, "s": 18446744073709551611}\n')
        self.fails(
            "--column",
            "s=s.jsonl",
            err=f"s.jsonl: line 1: {2**64 - 5} is beyond int64 (-2^63 to 2^63 - 1)\n  write it as "
            "-5, the int64 with the same bits, or make all values strings",
        )
        self.fails(
            *self.csv("number,s\n0,1e309\n"),
            err="s.csv: line 2: 1e309 is beyond float64 (1.8e308)" + advice,
        )
        self.fails(
            *self.csv("number,s\n0,1\n1,9e999999\n2,1e40\n3,2.5\n"),
            err="s.csv: line 3: 9e999999 is beyond float64 (1.8e308)" + advice,
        )
        self.fails(
            *self.csv(f"number,s\n0,{'x' * 256}\n"),
            err='s.csv: line 2: a text of 256 bytes for column "s" is longer than the maximum '
            "of 255\n  shorten the text",
        )
        self.fails(
            *self.csv("number,s\n0,\n"),
            err='s.csv: no row has a value of "s"\n'
            "  check the name of the field, or leave the column out",
        )
        self.fails(
            *self.csv("number,s\n0,1\n"),
            "--default",
            "s=x",
            err=(
                's.csv: the default "x" of column "s" is not of type int64\n'
                "  its values are of type int64: give a default of that type"
            ),
        )
        self.write("s.jsonl", b'{"number": 0, "s": 1}\n{"number": 1, "s": "1"}\n')
        self.fails(
            "--column",
            "s=s.jsonl",
            err='s.jsonl: line 2: "s" is of type bytes here and of type int64 in earlier lines\n'
            "  make the values of all lines numbers, or all strings",
        )

    def test_words_of_programs_are_bools_and_nulls_but_no_keys(self):
        """True and False, and what programs write for a missing value. Neither is a key."""
        words = ("True", "false", "NA", "null", "None", '"TRUE"', "<NA>")
        text = "number,s\n" + "".join(f"{number},{word}\n" for number, word in enumerate(words))
        done = DONE.format(1, 0, 0)
        nulls = f"recmap: column 's' is null for {COUNT - 3} of {COUNT} records\n"
        self.check("annotate", "a.rmx", *self.csv(text), err=done + nulls)
        self.where("s == 1", [0, 5])
        self.where("s == 0", [1])
        self.assertEqual(self.columns()["s"], "int64")
        drop = ("--drop", "s")
        self.run_recmap("annotate", "a.rmx", *self.csv(text + "8,0.5\n7,NaN\n"), *drop)
        self.assertEqual(self.columns()["s"], "float")
        self.where("s == 1 or s > 0", [0, 5, 8])
        self.where("s is not null", [0, 1, 5, 7, 8])
        self.run_recmap("annotate", "a.rmx", *self.csv("number,s\n0,de\n1,NA\n2,true\n"), *drop)
        self.where("s in ('de', 'NA', 'true')", [0, 1, 2])
        self.run_recmap("annotate", "a.rmx", *self.csv("number,s\n0,NA\n1,NA\n"), *drop)
        self.where("s == 'NA'", [0, 1])
        for key in ("true", "NA", "1.0"):
            self.fails(*self.csv(f"number,s\n{key},1\n"), *drop, err=(
                f"s.csv: line 2: {key} is not a record's number\n  records are numbered from 0; "
                'a field of ids is named "id"'
            ))  # fmt: skip

    def test_malformed_files_are_errors(self):
        header = (
            "\n  the first line names the fields, separated by commas in .csv and by tabs in .tsv: "
            'one is the column\'s name, and one is "id" or "number"'
        )
        none = 's.csv: line 1: the header has no field "{}": it is `{}`' + header
        self.fails(*self.csv(""), err=none.format("s", ""))
        self.fails(*self.csv("id;s\n"), err=none.format("s", "id;s"))
        self.fails(*self.csv("id, s\r\n"), err=(
            's.csv: line 1: the header has no field "s": it is `id, s`\n  did you mean " s"?'
        ))  # fmt: skip
        self.fails(*self.csv("s,x\n"), err=none.format("id", "s,x"))
        self.fails(*self.csv("é" * 99 + "\n"), err=none.format("s", "é" * 50))
        self.fails(
            *self.csv("s,id,s\n"),
            err='s.csv: line 1: the header has two fields "s"\n  rename or remove one of them',
        )
        self.fails(
            *self.csv("id,s\nid-0\n"),
            err="s.csv: line 2: has 1 field, but the header has 2\n  give each line as many fields "
            "as the header has, and put fields that contain the separator in quotes",
        )
        doubled = "quotes inside a quoted field are doubled"
        self.fails(
            *self.csv('id,s\nid-0,"x\n'),
            err=f"s.csv: line 2, byte 5: a quote is not closed\n  close the quote; {doubled}",
        )
        self.fails(
            *self.csv('id,s\nid-0,"x"y\n'),
            err="s.csv: line 2, byte 7: a closing quote is followed by other characters\n"
            f"  end the field after the quote; {doubled}",
        )
        self.fails(
            *self.csv(b"id,s\nid-0,\xff\n"),
            err=("s.csv: line 2: a field is not UTF-8\n  convert the file to UTF-8"),
        )
        self.fails(
            "--column",
            "s=s.txt",
            err=(
                "s.txt: the file's name does not end in .csv, .tsv, .jsonl or .ndjson\n"
                "  the extension selects the format: CSV, TSV or JSON lines"
            ),
        )
        no_object = (
            'is not a JSON object\n  write one object in each line, such as {"id": "a", "score": 1}'
        )
        invalid = (
            "is not valid JSON at byte {} of the line\n"
            "  correct the line; values are nested at most 1024 levels deep"
        )
        for text, what in (
            ("[]", no_object),
            ('{"id": "a"', no_object),
            (
                '{"id": "a"} x',
                "the object is followed by other characters\n"
                "  write each object in a line of its own",
            ),
            (
                '{"id": [1]}',
                '"id" is neither a string nor an integer\n  ids are strings or integers of 64 bits',
            ),
            (
                '{"id": "a", "s": [1]}',
                '"s" is not a string, a number, true, false or null\n'
                "  give it one value, or leave the member out",
            ),
            (
                '{"number": true, "s": 2}',
                '"number" is not an integer\n'
                '  records are numbered from 0; a field of ids is named "id"',
            ),
            (
                '{"s": 2, "id": false}',
                '"id" is neither a string nor an integer\n  ids are strings or integers of 64 bits',
            ),
            ('{"number": 1, "s": 2, "junk": ]}', invalid.format(30)),
            ('{"junk": {"a": 01}, "number": 1, "s": 2}', invalid.format(16)),
            ('{"junk": "\\x", "number": 1, "s": 2}', invalid.format(11)),
            ('{"junk": ' + "[" * 1025 + "]" * 1025 + "}", invalid.format(9 + 1024)),
            (
                '{"id": "a", "id": "a"}',
                'the object has two members "id"\n  rename or remove one of them',
            ),
        ):
            self.write("s.jsonl", text.encode())
            self.fails("--column", "s=s.jsonl", err=f"s.jsonl: line 1: {what}")

    def test_arrays_are_for_python(self):
        self.write("s.npy", b"\x93NUMPY")
        self.fails("--column", "s=s.npy", err=(
            "s.npy: arrays of NumPy are read only in Python\n"
            '  use `ds.annotate({"s": "FILE.npy"})` in Python, or write a CSV file with the fields '
            "number and s"
        ))  # fmt: skip

    def test_misspelt_fields_name_similar_ones(self):
        """The header, or the first object of JSON lines, has a near name."""
        header = "s.csv: line 1: the header has no field"
        for fields, name, absent, advice in (
            ("id,scores", "s", "s", "the first line names the fields"),
            ("id,scores,Scroes", "score", "score", 'did you mean "scores"?'),
            ("id,sroces,Scroe", "score", "score", 'did you mean "Scroe"?'),
            ('"id","my score"', "my scor", "my scor", 'did you mean "my score"?'),
            ("ID,score", "score", "id", 'rename the field "ID" to "id"'),
        ):
            self.write("s.csv", fields + "\n")
            result = self.run_recmap("annotate", "a.rmx", "--column", f"{name}=s.csv")
            message = f'recmap: {header} "{absent}": it is `{fields}`\n  {advice}'
            self.assertEqual(result.err.decode()[: len(message)], message)
        self.write("s.csv", "score,numbr\n")
        self.fails("--column", "score=s.csv", "--by", "number", err=(
            f'{header} "number": it is `score,numbr`\n  rename the field "numbr" to "number"'
        ))  # fmt: skip
        self.write("s.jsonl", '\n{"id": "id-1", "other": [{}], "score": 1}\n{"id": "id-2"}\n')
        self.fails("--column", "scores=s.jsonl", err=(
            's.jsonl: no row has a value of "scores"\n  did you mean "score"?'
        ))  # fmt: skip
        self.fails("--column", "rank=s.jsonl", err=(
            's.jsonl: no row has a value of "rank"\n'
            "  check the name of the field, or leave the column out"
        ))  # fmt: skip
        for key, by, name in (("ID", [], "number"), ("ids", ["--by", "id"], "id")):
            self.write("s.jsonl", f'{{"{key}": "id-1", "score": 1}}\n')
            self.fails("--column", "score=s.jsonl", *by, err=(
                f's.jsonl: line 1: the row has no {name}\n  rename "{key}": a field "id" or '
                '"number" says which record a row is for'
            ))  # fmt: skip

    def test_a_nul_in_a_table_is_an_error(self):
        for data, place in (
            ("id,s\nid-1,1\n".encode("utf-16-le"), "line 1, byte 1"),
            (b'id,s,t\nid-1,1,"a\n\0"\n', "line 3, byte 0"),
        ):
            self.fails(*self.csv(data), err=(
                f"s.csv: {place}: a byte is NUL\n"
                "  convert the file to UTF-8; NUL occurs in UTF-16 and in binary files"
            ))  # fmt: skip

    def test_names_that_no_column_can_have_are_errors(self):
        self.fails(
            "--drop",
            "x",
            err=('a.rmx: the index has no column "x"\n  see `recmap info` for its columns'),
        )
        self.fails(
            "--drop",
            "labl",
            err=('a.rmx: the index has no column "labl"\n  did you mean "label"?'),
        )
        for words in ("--drop", "@length"), ("--rename", "@length=size"):
            self.fails(
                *words,
                err='a.rmx: the index has no column "@length" that can be changed\n'
                "  see `recmap info` for its columns",
            )
        self.fails(
            "--rename",
            "label=@x",
            err=(
                '"@x" cannot be the name of a column: it is empty, begins with @, or is not UTF-8'
            ),
        )
        self.fails(
            "--column",
            "label=s.csv",
            err=(
                'a.rmx: the index already has a column "label"\n'
                "  drop or rename that column first, or choose another name"
            ),
        )

    def test_wrong_options_are_errors(self):
        for words, what in (
            ([], "no --column, --drop or --rename given"),
            (["--column", "s"], "--column needs NAME=FILE, not 's'"),
            (["--column", "s="], "--column needs NAME=FILE, not 's='"),
            (["--rename", "=s"], "--rename needs OLD=NEW, not '=s'"),
            (["--by", "x"], "invalid --by 'x': use id or number"),
            (["--drop", "label", "--default", "s=1"], "--default s: there is no --column s"),
            (["--drop", "label", "--by", "id"], "--by needs --column"),
            (["--drop", "label", "--missing-values", "null"], "--missing-values needs --column"),
        ):
            self.check_wrong("annotate", "a.rmx", *words, what=what)
