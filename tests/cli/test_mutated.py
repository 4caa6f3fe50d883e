"""Mutated indexes: whatever an index says, every command ends with records or with an error that
says what is wrong, and writes only where it was told to."""

import os
import subprocess
import unittest

from support import CliTest

CASES = 1000 if os.environ.get("RECMAP_TEST_LONG") else 25


class Mutated(CliTest):
    def commands(self, index):
        for access in "map", "read", "direct":
            yield "cat", "--access", access, index
            yield "get", "--access", access, index, "3", "0", "7"
        yield "info", index
        yield "info", "--json", index
        yield "verify", index
        yield "find", index, "id-3"
        yield "schema", index
        yield "report", "-o", "out.html", index
        yield "export", "--to", "idx", index
        yield "merge", "-o", "out.rmx", index

    def test_every_command_ends_well(self):
        os.mkdir(self.path("in"))
        subprocess.run(
            [os.environ["RECMAP_WRITE_MUTATED"], "1", str(CASES)], check=True, cwd=self.path("in")
        )
        statuses = set()
        for seed in range(1, CASES + 1):
            for command in self.commands(f"in/m{seed:04}.rmx"):
                with self.subTest(command=command):
                    result = self.run_recmap(*command)
                    statuses.add(result.status)
                    self.assertIn(result.status, range(8), result)
                    self.assertNotIn(b"Sanitizer", result.err)
                    if result.status and command[0] != "verify":
                        self.assertTrue(result.err.startswith(b"recmap: "), result)
        self.assertIn(0, statuses)
        self.assertGreater(len(statuses), 1)
        self.assertLessEqual(set(self.files()), {"in", "out.html", "out.rmx"})


if __name__ == "__main__":
    unittest.main()
