"""Runs the properties of each subject: `python -m tests.fuzz --examples 100000`."""

import argparse
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import count

from tests.fuzz.shard import Outcome, Shard
from tests.fuzz.subjects import SUBJECTS

CHUNK = 2500
"""Examples a process: what Hypothesis remembers of them stays small, and all cores have work."""


def main() -> int:
    """Return 0 if all examples passed, 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--examples", type=int, default=100_000, help="of each subject")
    parser.add_argument(
        "--seed", type=int, help="of the first process; each next one has the next"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", choices=SUBJECTS, help="one subject alone")
    given = parser.parse_args()
    seed = secrets.randbelow(10**9) if given.seed is None else given.seed
    subjects = [given.only] if given.only else list(SUBJECTS)
    say(f"seed {seed}: {given.examples} examples each of {', '.join(subjects)}")
    shards = list(shards_of(subjects, given.examples, seed))
    began, seen, failed = time.monotonic(), Counter[str](), 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for done in as_completed([pool.submit(shard.run) for shard in shards]):
            outcome = done.result()
            seen[outcome.shard.test] += outcome.seen
            failed += bool(outcome.fault)
            tell(outcome, seen, began)
    say("\n".join(f"{number:8} {test}" for test, number in seen.items()))
    totals = [f"{sum(seen[test] for test in SUBJECTS[each])} {each}" for each in subjects]
    say(f"{', '.join(totals)} in {time.monotonic() - began:.0f} s; failed runs: {failed}")
    return 1 if failed else 0


def shards_of(subjects: list[str], examples: int, seed: int) -> Iterator[Shard]:
    """Yield the shards of these subjects; the properties of one share its examples evenly."""
    seeds = count(seed)
    for subject in subjects:
        tests = SUBJECTS[subject]
        for number, test in enumerate(tests):
            share = (examples + number) // len(tests)
            for done in range(0, share, CHUNK):
                yield Shard(
                    subject=subject,
                    test=test,
                    examples=min(CHUNK, share - done),
                    seed=next(seeds),
                )


def say(text: str) -> None:
    """Print it at once: whoever watches a long run wants to see how far it is."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tell(outcome: Outcome, seen: Counter[str], began: float) -> None:
    """Print how far it is; of a failure all that there is, and how to see it again."""
    shard = outcome.shard
    if outcome.fault:
        again = f"HYPOTHESIS_PROFILE=fuzz FUZZ_EXAMPLES={shard.examples} "
        say(f"{outcome.fault}\nFAILED; again: {again}{' '.join(shard.command)}")
    total = sum(seen[test] for test in SUBJECTS[shard.subject])
    name = shard.test.rpartition("::")[2]
    elapsed = time.monotonic() - began
    say(f"{elapsed:6.0f} s {shard.subject} {total:7} seed {shard.seed} {name}")


if __name__ == "__main__":
    sys.exit(main())
