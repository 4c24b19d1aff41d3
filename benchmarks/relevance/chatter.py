"""Generated sessions around those with an answer, with the same projects, tools and plain words."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from benchmarks.relevance.corpus import Step, Story

PARTS = {
    "shop": "basket checkout catalogue voucher invoice wishlist mailer login admin stock",
    "ledger": "importer journal account budget report export booking closing api audit",
    "atlas": "tile router geocoder layer marker profile region cache projection index",
    "garden": "valve probe pump scheduler board broker dashboard tank calendar lamp",
    "infra": "cluster pipeline gateway registry volume secret ingress runner backup alert",
    "mobile": "chat profile inbox camera settings onboarding sync widget theme map",
    "models": "loader tokenizer trainer sampler classifier metric checkpoint batch config split",
}
SUFFIXES = {
    **{"shop": "ts", "ledger": "py", "atlas": "go", "garden": "rs"},
    **{"infra": "yaml", "mobile": "kt", "models": "py"},
}
WISHES = (
    "Add a test for the {a} that covers an empty {b}.",
    "The {a} is slow when there are many entries in the {b}. Can you make it faster?",
    "Why does the {a} fail after the last change to the {b}?",
    "Rename the {a} to {b} everywhere and keep the old name working for now.",
    "Write a short page that explains how the {a} and the {b} work together.",
    "Somebody reports that the {a} shows the wrong number after the {b} was changed twice.",
    "Can we remove the {a}? I think only the {b} uses it.",
    "Move the settings of the {a} into a file, with the same defaults as the {b}.",
    "People complain that the {a} stops working when the {b} is offline for a while.",
    "Make the {a} send an alert once it has failed for the third time.",
)
THOUGHTS = (
    "The {a} keeps its own copy of the {b}, so a change is seen only after a restart.",
    "Both sides write to the {a}. I should look at who does it first.",
    "It could be the cache of the {a}, or the order in which the {b} is read.",
)
ANSWERS = (
    "The {a} asked for the {b} once for each row. It asks once for all of them now.",
    "The {b} was read before it was written. I changed the order and added a test.",
    "There was a missing check for an empty {b}. The {a} returns nothing in that case now.",
    "I split the {a} in two: one part reads the {b}, the other one shows it.",
    "The number came from an old copy. The {a} looks it up again after each change.",
    "It waited for the {b} without a limit. It gives up after ten seconds and tries again later.",
    "Nothing else uses the {a}, so I removed it together with its tests and settings.",
    "The page is in docs/{a}.md. It begins with an example and ends with what can go wrong.",
)
COMMANDS = ("git status --short", "git diff --stat", "ls -la src", "make test", "make lint")
FAILURES = (
    "Error: {a} is not ready, {b} has no value",
    "AssertionError: expected {a} to equal {b}",
    "error: unknown option --{a} for {b}",
    "ERROR {a}: connection to {b} refused",
    "FAIL {a}/{b}: timed out after 10 s",
)
FILLERS = {
    "log": "2026-0{month}-1{digit}T0{digit}:{number}:07Z INFO {a}: {b} done in {number} ms",
    "paths": "src/{a}/{b}.{suffix}:{number}: {a}_{b} = {b}.get({number})",
    "passed": " ✓ {a}/{b} > keeps its value after {number} changes",
}


def filled(story: Story) -> Story:
    """The story with generated lines in place of `~ kind count`."""
    random = Random(story.name)
    steps = [
        step._replace(output=tuple(_filled(step.output, story.project, random)))
        for step in story.steps
    ]
    return story._replace(steps=tuple(steps))


def sessions_around(story: Story, count: int) -> list[Story]:
    """Other sessions of the same project, with nothing special in them."""
    return [_session(story, number) for number in range(count)]


def _session(story: Story, number: int) -> Story:
    name = f"{story.name}-{number}"
    random = Random(name)
    project = story.project
    steps: list[Step] = []
    for _ in range(random.randint(2, 5)):
        steps.append(Step(">", _sentence(random, WISHES, project)))
        for _ in range(random.randint(1, 3)):
            steps.append(_call(random, project))
        if random.random() < 0.4:
            steps.append(Step("?", _sentence(random, THOUGHTS, project)))
        sentences = random.sample(ANSWERS, random.randint(1, 3))
        steps.append(Step("<", " ".join(_sentence(random, [each], project) for each in sentences)))
    agent = random.choice(("claude-code", "codex"))
    started_at = story.started_at + timedelta(days=random.randint(-9, 9), hours=number)
    return Story(name, agent, project, started_at, tuple(steps))


def _call(random: Random, project: str) -> Step:
    a, b = random.sample(PARTS[project].split(), 2)
    if random.random() < 0.4:
        return Step("@", f"Edit src/{a}/{b}.{SUFFIXES[project]}")
    kind = random.choice(list(FILLERS))
    lines = list(_filled((f"~ {kind} {random.randint(2, 40)}",), project, random))
    if random.random() < 0.3:
        lines.insert(random.randint(0, len(lines)), _sentence(random, FAILURES, project))
    return Step("$", random.choice((*COMMANDS, f"grep -rn {a} src/{b}")), tuple(lines))


def _filled(lines: tuple[str, ...], project: str, random: Random) -> list[str]:
    result: list[str] = []
    for line in lines:
        if not line.startswith("~ "):
            result.append(line)
            continue
        _, kind, count = line.split()
        result += [_sentence(random, [FILLERS[kind]], project) for _ in range(int(count))]
    return result


def _sentence(random: Random, templates: list[str] | tuple[str, ...], project: str) -> str:
    a, b = random.sample(PARTS[project].split(), 2)
    digit, number = random.randint(1, 9), random.randint(10, 59)
    return random.choice(templates).format(
        a=a, b=b, suffix=SUFFIXES[project], month=digit % 4 + 1, digit=digit, number=number
    )
