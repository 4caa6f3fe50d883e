"""doctor: each check on a set made for it, sound sets, and hostile ones."""

import base64
import fnmatch
import json
import os
import random
import shutil
import unittest

from doctor import sets
from doctor.known_findings import KNOWN
from support import DIGITS, CliTest, example, needs_images, tfrecord

SHARED = os.environ.get("RECMAP_TEST_DATA") or os.path.join(
    os.path.dirname(DIGITS), "..", "..", "shared", "data"
)
IMAGES = {
    "damaged picture", "damaged header", "no picture", "cmyk", "turned", "16 bits", "misnamed",
    "pictures",
}  # fmt: skip


def printed(finding):
    """The lines that are printed for a finding of --json."""
    place = "".join(
        f"{part}: "
        for part in (
            finding["severity"],
            finding["shard"],
            None if finding["record"] is None else f"record {finding['record']}",
        )
        if part is not None
    )
    return f"{place}{finding['message']} [{finding['check']}]\n  {finding['advice']}\n"


class DoctorTest(CliTest):
    def fill(self, name, files):
        os.mkdir(self.path(name))
        for file, data in files.items():
            self.write(os.path.join(name, file), data)

    def examine(self, *arguments):
        """The findings. What is printed without --json says the same."""
        result = self.run_recmap("doctor", "--json", *arguments)
        self.assertEqual(result.err, b"", result)
        document = json.loads(result.out)
        findings = document["findings"]
        self.assertEqual(result.status, any(f["severity"] != "note" for f in findings), result)
        text = self.run_recmap("doctor", *arguments)
        *lines, summary = text.out.decode().splitlines(keepends=True)
        self.assertEqual("".join(lines), "".join(map(printed, findings)))
        self.assertEqual(text.status, result.status)
        for severity in ("error", "warning", "note"):
            number = sum(finding["severity"] == severity for finding in findings)
            self.assertIn(f"{number} {severity}{'' if number == 1 else 's'}", summary)
        return document


class Faults(DoctorTest):
    def check_fault(self, name):
        files, expected = sets.FAULTS[name]
        folder = name.replace(" ", "-")
        self.fill(folder, files)
        before = sorted(os.listdir(self.path(folder)))
        findings = self.examine(folder)["findings"]
        found = [(f["check"], f["severity"], f["record"]) for f in findings]
        self.assertEqual(set(found), {expected}, (name, findings))
        for threads in ("1", "3"):
            self.assertEqual(self.examine(folder, "--threads", threads)["findings"], findings)
        self.assertEqual(sorted(os.listdir(self.path(folder))), before)
        for finding in findings:
            self.assertTrue(finding["advice"] and finding["message"])
            if finding["record"] is not None:
                self.assertTrue(finding["shard"].startswith(f"{folder}/"), finding)

    def test_each_fault_is_found_by_its_check_alone(self):
        for name in sets.FAULTS:
            if name not in IMAGES:
                with self.subTest(name):
                    self.check_fault(name)

    @needs_images
    def test_each_fault_of_pictures_is_found_by_its_check_alone(self):
        for name in IMAGES & set(sets.FAULTS):
            with self.subTest(name):
                self.check_fault(name)

    def test_nothing_is_found_in_sound_sets(self):
        for name, files in sets.SOUND.items():
            with self.subTest(name):
                self.fill(name, files)
                self.assertEqual(self.examine(name)["findings"], [])

    def test_nothing_is_found_in_the_digits(self):
        shutil.copytree(DIGITS, self.path("digits"))
        self.index("-o", "digits.rmx", "--id", "id", "digits")
        document = {"findings": [], "records": 1797, "records_read": 1797}
        self.assertEqual(self.examine("digits.rmx"), document)
        self.assertEqual(self.examine("digits"), document)


class Indexes(DoctorTest):
    def test_nothing_is_said_of_indexes_of_single_sets(self):
        """They are not used for all sets together, and the index of these is not kept."""
        records = [sets.sound(i) for i in range(30)]
        self.write("d/x-test.tfrecord-00000-of-00001", tfrecord(records[:15]))
        self.write("d/x-train.tfrecord-00000-of-00001", tfrecord(records[15:]))
        self.index("--split", "train", "d")
        before = sorted(os.listdir(self.path("d")))
        self.assertEqual([f["check"] for f in self.examine("d")["findings"]], ["several_sets"])
        self.assertEqual(sorted(os.listdir(self.path("d"))), before)


class OtherKinds(DoctorTest):
    def check_advice(self, name, data):
        self.write(name, data)
        damage = [f for f in self.examine(name)["findings"] if f["check"] == "damage"]
        self.assertIn("`--framing csv`", damage[0]["advice"])
        self.assertIn("`recmap index --framing lines`", damage[0]["advice"])

    def test_short_files_of_another_kind(self):
        self.check_advice("t.csv", b"a,b\n1,2\n3,4\n")
        self.check_advice("t.jsonl", b'{"a":1}\n{"a":2}\n')

    def test_long_files_of_another_kind(self):
        self.write("t.csv", b"a,b\n" + b"1,2\n" * 100)
        result = self.run_recmap("doctor", "t.csv")
        self.assertEqual(result.status, 3)
        self.assertIn(b"is not a TFRecord file: it is text", result.err)
        self.assertIn(b"`--framing csv`", result.err)


class SeekPoints(DoctorTest):
    def test_a_shard_that_is_one_block(self):
        record = {"base64": base64.b64encode(sets.sound(0, blob=bytes(17 << 20))).decode()}
        self.write("lines", json.dumps(record).encode())
        self.assertEqual(self.run_recmap("import", "lines", "-o", "plain").status, 0)
        self.fill("set", {"set.tfrecord.gz": sets.one_block(self.read("plain"))})
        for options in [], ["--sample", "1"]:
            findings = self.examine("set", *options)["findings"]
            self.assertEqual(
                [(f["check"], f["severity"]) for f in findings], [("seek_points", "warning")]
            )


class Ids(DoctorTest):
    def check_ids(self, records, *expected):
        self.write("set.tfrecord", tfrecord(records))
        self.index("--id", "name", "set.tfrecord", err=None)
        findings = self.examine("set.rmx")["findings"]
        self.assertEqual([(f["check"], f["severity"], f["record"]) for f in findings], [*expected])

    def index(self, *arguments, err=None):
        self.assertEqual(self.run_recmap("index", *arguments).status, 0)

    def test_repeated(self):
        records = [sets.sound(i, name=f"n{i if i != 9 else 4}") for i in range(30)]
        self.check_ids(records, ("ids", "warning", 9))

    def test_labels(self):
        records = [sets.sound(i, name=f"n{i % 10}") for i in range(200)]
        self.check_ids(records, ("ids", "warning", None))

    def test_missing(self):
        records = [sets.sound(i, name=None if i == 9 else f"n{i}") for i in range(30)]
        self.check_ids(records, ("ids", "warning", 9), ("missing_features", "note", 9))


class Selections(DoctorTest):
    def saved(self, files, *more):
        self.fill("set", files)
        result = self.run_recmap("doctor", "set", "-o", "bad.rmv", *more)
        self.assertEqual(result.status, 1, result)
        numbers = self.run_recmap("cat", "bad.rmv", "--format", "number").out.split()
        return [int(number) for number in numbers]

    def test_all_records_of_findings_are_saved(self):
        records = list(sets.RECORDS)
        records[3] = sets.sound(3, label="three")
        records[8] = sets.sound(8, values=[1.5, float("nan")])
        records[11] = records[2]
        for number in (5, 15, 25):
            records[number] = sets.sound(number, values=[0.5] * 3)
        self.assertEqual(self.saved(sets.one(records)), [3, 8, 11])

    def test_lengths_and_lacking_features(self):
        records = [sets.sound(i, label=None) if i % 5 == 3 else sets.sound(i) for i in range(40)]
        records[7] = sets.sound(7, values=[0.5] * 3)
        self.assertEqual(self.saved(sets.one(records)), sorted([7, *range(3, 40, 5)]))

    def test_a_selection_is_examined_by_positions(self):
        records = sets.changed(20, label="three")
        self.write("set.tfrecord", tfrecord(records))
        self.assertEqual(self.run_recmap("index", "set.tfrecord").status, 0)
        where = ["select", "set.rmx", "--where", "length > 0", "-o", "all.rmv"]
        self.assertEqual(self.run_recmap(*where).status, 0)
        self.assertEqual(self.examine("all.rmv")["findings"][0]["record"], 20)
        result = self.run_recmap("sample", "set.rmx", "--count", "30", "-o", "some.rmv")
        if result.status == 0:
            position = self.examine("some.rmv")["findings"][0]["record"]
            order = self.run_recmap("cat", "some.rmv", "--format", "number").out.split()
            self.assertEqual(order[position], b"20")

    @needs_images
    def test_a_selection_of_bad_pictures(self):
        """No record of it shows that the feature is a picture, but others of the set do."""
        page, cut = b"<html>not found</html>", sets.picture("plain-420.jpg")[:-200]
        records = sets.with_pictures(30, {5: page, 9: page, 12: cut})
        self.assertEqual(self.saved(sets.one(records)), [5, 9, 12])
        found = self.examine("bad.rmv")["findings"]
        self.assertEqual(
            sorted((f["check"], f["severity"], f["record"]) for f in found),
            [("image_damage", "error", 0), ("image_damage", "error", 2)],
        )
        result = self.run_recmap("doctor", "bad.rmv", "-o", "again.rmv")
        self.assertEqual(result.status, 1, result)
        out = self.run_recmap("cat", "again.rmv", "--format", "number").out
        self.assertEqual(out, b"5\n9\n12\n")

    def test_a_selection_without_records(self):
        self.write("set.tfrecord", tfrecord(sets.RECORDS))
        self.assertEqual(self.run_recmap("index", "set.tfrecord").status, 0)
        where = ["select", "set.rmx", "--where", "length > 1000000", "-o", "none.rmv"]
        self.assertEqual(self.run_recmap(*where).status, 0)
        (finding,) = self.examine("none.rmv")["findings"]
        self.assertEqual(finding["message"], "the selection has no records")

    def test_an_index_whose_records_changed(self):
        self.write("set.tfrecord", tfrecord(sets.RECORDS))
        self.assertEqual(self.run_recmap("index", "set.tfrecord").status, 0)
        data = bytearray(self.read("set.tfrecord"))
        data[-20] ^= 1
        times = os.stat(self.path("set.tfrecord"))
        self.write("set.tfrecord", bytes(data))
        os.utime(self.path("set.tfrecord"), ns=(times.st_atime_ns, times.st_mtime_ns))
        findings = self.examine("set.rmx")["findings"]
        self.assertEqual([(f["check"], f["record"]) for f in findings], [("damage", 29)])
        os.remove(self.path("set.tfrecord"))
        findings = self.examine("set.rmx")["findings"]
        self.assertEqual([f["check"] for f in findings], ["missing_shards"])


class Options(DoctorTest):
    def test_a_sample(self):
        self.fill("set", sets.one([sets.sound(i) for i in range(100)]))
        document = self.examine("set", "--sample", "10")
        self.assertEqual((document["records"], document["records_read"]), (100, 10))

    def test_names_alone(self):
        files, expected = sets.FAULTS["two generations"]
        self.fill("set", dict.fromkeys(files, b"no record"))
        findings = self.examine("set", "--index-only")["findings"]
        self.assertEqual([(f["check"], f["severity"]) for f in findings], [expected[:2]])

    def test_wrong_usage(self):
        self.check_wrong(
            "doctor", "a", "-o", "b", what="-o needs a name that ends in .rmv, not 'b'"
        )
        self.check_wrong(
            "doctor", "a", "--index-only", "--sample", "5",
            what="--index-only reads no record: omit --sample",
        )  # fmt: skip
        self.check_wrong(
            "doctor", "a", "--index-only", "--threads", "2",
            what="--index-only reads no record: omit --threads",
        )  # fmt: skip
        self.check_wrong("doctor", "a.rmx", "b", what="only one index can be given")


class Hostile(DoctorTest):
    def check_lives(self, *arguments):
        result = self.run_recmap("doctor", "--json", *arguments)
        self.assertIn(result.status, (0, 1, 2, 3, 4), result)
        if result.status < 2:
            json.loads(result.out)
        return result

    def test_metadata_of_any_bytes(self):
        self.fill("set", sets.prepared(sets.ROBOT))
        good = self.read("set/dataset_info.json")
        draw = random.Random(7)
        texts = [b"", b"[" * 100_000, b'{"a":' * 100_000, b"\0", b"null", b'{"name": 3}', b"{}"]
        texts += [b'{"name": "\\u0000", "splits": [{}]}', b'{"name":"x","splits":[{"name":"a"}]}']
        for _ in range(60):
            text = bytearray(good)
            for _ in range(draw.randrange(1, 6)):
                text[draw.randrange(len(text))] = draw.randrange(256)
            texts.append(bytes(text[: draw.choice([None, draw.randrange(len(text))])]))
        for text in texts:
            self.write("set/dataset_info.json", text)
            with self.subTest(text[:80]):
                self.assertLess(self.check_lives("set", "--index-only").status, 2)

    def test_records_of_any_bytes(self):
        draw = random.Random(3)
        records = []
        for record in [*sets.RECORDS, *sets.episodes(), sets.sequence(1, 3)] * 5:
            bytes_ = bytearray(record)
            bytes_[draw.randrange(len(bytes_))] = draw.randrange(256)
            records.append(bytes(bytes_))
        self.fill("set", sets.one(records))
        self.assertEqual(self.check_lives("set").status, 1)

    def test_names_that_control_terminals(self):
        name = "\x1b[31mred\n"
        records = [example(**{name: float("nan"), "id": str(i)}) for i in range(3)]
        self.fill("set", {"\x1b[2J.tfrecord": tfrecord(records)})
        result = self.run_recmap("doctor", "set")
        self.assertEqual(result.status, 1)
        self.assertNotIn(b"\x1b", result.out)

    def test_many_features_and_findings(self):
        records = [example(**{f"f{i}-{j}": float("nan") for j in range(40)}) for i in range(20)]
        self.fill("set", sets.one(records))
        findings = self.examine("set")["findings"]
        self.assertLess(len(findings), 400)

    def test_a_folder_without_shards(self):
        os.mkdir(self.path("set"))
        self.assertEqual(self.check_lives("set").status, 2)
        self.write("set/README.md", b"nothing")
        self.assertEqual(self.check_lives("set").status, 2)

    def test_a_broken_link(self):
        self.fill("set", sets.shards(sets.RECORDS, 3))
        os.remove(self.path("set/set-00001-of-00003.tfrecord"))
        os.symlink("nowhere", self.path("set/set-00001-of-00003.tfrecord"))
        for options in [], ["--index-only"]:
            result = self.check_lives("set", *options)
            self.assertEqual(result.status, 2)  # as for other commands
            self.assertIn(b"the link is broken", result.err)


@unittest.skipUnless(os.path.isdir(SHARED), "skipped: there is no folder of real files")
class RealFiles(DoctorTest):
    def known(self, path):
        """The checks that may find something in a file, and why."""
        matching = [entry for entry in KNOWN if fnmatch.fnmatch(path, entry[0])]
        self.assertLess(len(matching), 2, path)
        return matching[0][1] if matching else set()

    def test_each_finding_is_known(self):
        root = os.path.join(SHARED, "tfrecord")
        found = set()
        for folder, _, files in sorted(os.walk(root)):
            for name in sorted(set(files) - {"MANIFEST.tsv", "schemas.json"}):
                path = os.path.relpath(os.path.join(folder, name), root)
                result = self.run_recmap("doctor", "--json", os.path.join(root, path))
                self.assertIn(result.status, (0, 1), result)
                checks = {finding["check"] for finding in json.loads(result.out)["findings"]}
                found |= {(path, check) for check in checks}
                with self.subTest(path):
                    self.assertLessEqual(checks, self.known(path))
        for pattern, checks, why in KNOWN:
            for check in checks:
                matching = [path for path, other in found if other == check]
                self.assertTrue(fnmatch.filter(matching, pattern), (pattern, check, why))


if __name__ == "__main__":
    unittest.main()
