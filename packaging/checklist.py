"""What a release needs: what holds, what is wrong, and what is still to do."""

import sys


class Checklist:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.errors: list[str] = []
        self.tasks: list[str] = []

    def check(self, holds: bool, fact: str, task: str) -> None:
        """Notes the fact if it holds, and otherwise what is to do."""
        if holds:
            self.done.append(fact)
        else:
            self.tasks.append(task)

    def print(self) -> None:
        for kind, texts in ("done", self.done), ("error", self.errors), ("to do", self.tasks):
            for text in texts:
                print(f"release: {kind}: {text}", file=sys.stderr)

    def markdown(self, title: str, steps: list[str]) -> str:
        """The list, followed by steps that only people can take."""
        lines = [f"- [x] {text}" for text in self.done]
        lines += [f"- [ ] {text}" for text in [*self.errors, *self.tasks, *steps]]
        return f"# {title}\n\n" + "\n".join(lines) + "\n"
