"""Protects the comparison of two checkouts: pairs alternate, the ratio is theirs, and a broken checkout is named."""

import re
from pathlib import Path

import pytest

from bench import pairs


def test_the_ratio_is_that_of_the_pairs_and_lies_in_its_interval() -> None:
    before = [1.0, 2.0, 4.0, 8.0, 16.0]
    ratio = pairs.ratio_of(before, [1.1 * one for one in before])
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx((1.1, 1.1, 1.1))
    noisy = pairs.ratio_of([1.0] * 6, [0.9, 0.95, 1.0, 1.05, 1.1, 9.0])
    assert noisy.low < noisy.estimate < noisy.high
    assert noisy.estimate == pytest.approx(1.025), "one interrupted pair does not decide"


def test_pairs_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError):
        pairs.ratio_of([], [])
    with pytest.raises(ValueError):
        pairs.ratio_of([1.0], [1.0, 2.0])


def test_sides_take_turns_after_one_command_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    order: list[str] = []

    def timed(checkout: Path, _measure: object, _suite: object) -> dict[str, float]:
        order.append(checkout.name)
        return {"clock": 2.0 if checkout == after else 1.0}

    monkeypatch.setattr(pairs, "timed", timed)
    was, now = pairs.time_pairs((before, after), pairs.MEASURES["help"], 3, None)
    warm_up, measured = order[:2], order[2:]
    assert sorted(warm_up) == ["after", "before"]
    assert measured == ["before", "after", "after", "before", "before", "after"]
    assert ([one["clock"] for one in was], [one["clock"] for one in now]) == ([1.0] * 3, [2.0] * 3)


def test_a_checkout_is_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert pairs.main(["--pairs", "1"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^faultlab --help, 1 pairs; load ", said)
    for kind in ("clock", "processor"):
        assert re.search(rf"^  {kind} +[\d.]+ m?s -> [\d.]+ m?s  ratio \d\.\d{{3}} \[[\d.]+ \.\. [\d.]+\]$", said, re.M)


def test_a_checkout_that_cannot_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"{tmp_path}: -c raise SystemExit\\(70\\) ended with 70"):
        pairs.run_in(tmp_path, ["-c", "raise SystemExit(70)"])
