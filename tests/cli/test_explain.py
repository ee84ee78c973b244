"""Protects `faultlab explain` as people meet it: in an empty folder, in 80 columns, with mistakes, and by programs."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import Done, faultlab

from cli.main import main

WIDTH = 80
ASKED = ("explain", "sarama@1.27.2", "blackhole")
SHORT = ("--set", "Net.ReadTimeout=2s", "--set", "Net.DialTimeout=1s", "--set", "Net.WriteTimeout=3s")


def test_what_the_sum_is_made_of(tmp_path: Path) -> None:
    done = faultlab(*ASKED, *SHORT, "--set", "Producer.Retry.Max=1", "--all", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.widest() <= WIDTH
    text = done.out
    for row in (
        r"^8\.850 s = 2 x Net\.ReadTimeout +2s +4\.000  r$",
        r"^ +\+ 4 x Net\.DialTimeout +1s +4\.000  d$",
        r"^ +\+ 1 x Producer\.Retry\.Backoff +100ms +default +0\.100  ·$",
        r"^ +\+ 3 x Metadata\.Retry\.Backoff +250ms +default +0\.750  ·$",
        r"^  r+·r+d+·+d+·+d+·+d+$",
        r"^holds when  Producer\.Retry\.Max >= 1 \(it is 1\) and Metadata\.Timeout == 0s \(it is$",
        r"^ +0s\) and \(Metadata\.RefreshFrequency == 0s or sum <$",
        r"^you get +kafka: client has run out of available brokers",
        r"^simulated +8\.850 s$",
        r"^no effect +.*Net\.WriteTimeout",
        r"^the message +",
        r"^recovers +within",
        r"^set +Producer\.Retry\.Max 0 +2\.000 s$",
        r"^a claim +Net\.WriteTimeout \+ 4\*Net\.DialTimeout = 7\.000 s: refuted",
        r"bootstrap-blackhole 4\.750 s",
        r"^source +Shopify/sarama v1\.27\.2",
    ):
        assert re.search(row, text, re.MULTILINE), row
    assert list(tmp_path.iterdir()) == [], "asking changes nothing"


@pytest.mark.parametrize(
    "question",
    [
        ("sarama@1.27.2", "blackhole"),
        ("sarama@1.27.2", "blackhole", "--brokers", "12", "--bootstrap", "12", *SHORT),
        ("sarama@1.60.1", "blackhole", "--set", "Net.ReadTimeout=3s", "--budget", "3s"),
        ("kafka-go@0.4.8", "bootstrap", "--bootstrap", "4", "--set", "dead=2", "--seeds", "20", "--budget", "4s"),
        ("sarama@1.27.2", "latency", "--set", "slow.delay=300ms"),
        ("sarama",),
    ],
    ids=" ".join,
)
@pytest.mark.ci
def test_everything_fits_into_80_columns(tmp_path: Path, question: tuple[str, ...]) -> None:
    hold_to_width(faultlab("explain", *question, cwd=tmp_path))


def hold_to_width(done: Done) -> None:
    assert (done.code, done.err) == (0, "")
    assert done.widest() <= WIDTH
    assert not [line for line in done.lines if line != line.rstrip()]


def test_another_release_stands_beside_it_with_what_it_adds(tmp_path: Path) -> None:
    done = faultlab(*ASKED, *SHORT, cwd=tmp_path)
    text = " ".join(done.out.split())
    assert "1.60.1 13.600 s (+4.750): +4 x Net.DialTimeout, +3 x Metadata.Retry.Backoff. You get: read tcp" in text
    done = faultlab("explain", "sarama@1.60.1", "blackhole", *SHORT, cwd=tmp_path)
    assert "1.27.2 8.850 s (-4.750): -4 x Net.DialTimeout, -3 x Metadata.Retry.Backoff." in " ".join(done.out.split())


@pytest.mark.ci
def test_without_a_question_it_says_what_can_be_asked(tmp_path: Path) -> None:
    done = faultlab("explain", cwd=tmp_path)
    hold_to_width(done)
    assert re.search(r"^sarama .*1\.27\.2", done.out, re.MULTILINE)
    assert re.search(r"^    blackhole-established +180\.850 s\b", done.out, re.MULTILINE)
    last = done.lines[-1]
    assert last.startswith("faultlab explain ")
    assert faultlab(*last.split()[1:], cwd=tmp_path).code == 0, "what it proposes works"
    told = json.loads(faultlab("explain", "--json", cwd=tmp_path).out)["cases"]
    assert {case["case"] for case in told} >= {"blackhole-established", "bootstrap-refused"}


MISTAKES = [
    (("saramma@1.27.2", "blackhole"), "there is no client `saramma`", "did you mean sarama?"),
    (("sarama@1.27.3", "blackhole"), "sarama 1.27.3 is not reproduced", "did you mean sarama@1.27.2?"),
    (("sarama", "blackhole"), "sarama of which release? They differ", "write sarama@"),
    (("sarama@1.27.2", "blackhol"), "there is no fault `blackhol`", "did you mean blackhole?"),
    (("sarama@1.27.2", "blackhole", "--set", "Net.ReadTimeoot=3s"), "no setting Net.ReadTimeoot", "Net.ReadTimeout?"),
    (("sarama@1.27.2", "blackhole", "--set", "ReadTimeout=3"), "`3` is not a duration", "write its unit: 3s or 3ms"),
    (("sarama@1.27.2", "blackhole", "--set", "ReadTimeout=0s"), "Net.ReadTimeout must be > 0", ""),
    (("sarama@1.27.2", "blackhole", "--set", "ReadTimeout"), "--set ReadTimeout sets nothing", "write --set"),
    (("sarama@1.27.2", "blackhole", "--set", "a=1", "--set", "a=2"), "--set a is given twice", "keep one"),
    (("sarama@1.27.2", "blackhole", "--budget", "3"), "--budget: `3` is not a duration", "3s or 3ms"),
    (("sarama@1.27.2", "blackhole", "--budget", "0s"), "--budget 0s", "write --budget 3s"),
    (("sarama@1.27.2", "blackhole", "--brokers", "0"), "0 is not in the range", "--help explains"),
    (("sarama@1.27.2", "blackhole", "--brokers", "2", "--bootstrap", "3"), "more than the brokers: 2", "--brokers 3"),
    (("sarama@1.27.2", "blackhole", "--brokers", "99", "--bootstrap", "99"), "'--bootstrap': 99 is not in", "1<=x<=50"),
    (("sarama@1.27.2", "latency", "--set", "slow.dely=1s"), "latency has no parameter `dely`", "did you mean delay?"),
    (("sarama@1.27.2", "blackhole", "--picture", "no/such/folder/x.svg"), "cannot write no/such/folder/x.svg", "name"),
    (("sarama", "--budget", "3s"), "a fault is missing", "write faultlab explain sarama FAULT"),
    (("sarama@1.27.2", "blackhole", "--pause", "3"), "--pause: `3` is not a duration", "3s or 3ms"),
    (("kafka-go@0.4.8", "boostrap"), "there is no fault `boostrap`", "did you mean bootstrap?"),
    (
        ("kafka-go@0.4.8", "bootstrap", "--bootstrap", "4", "--set", "dead=9"),
        "dead=9: there are only 4",
        "--bootstrap 9",
    ),
    (("kafka-go@0.4.8", "bootstrap", "--set", "ded=1"), "ded is no number of addresses", "did you mean dead?"),
    (("kafka-go@0.4.8", "bootstrap", "--brokers", "1"), "more than the brokers: 1", "write --brokers 2"),
    (("kafka-go@0.4.8", "bootstrap", "--set", "NetDialer.Timeout=0s"), "it is not so that NetDialer.Timeout > 0s", ""),
    (("kafka-go@0.4.8", "bootstrap", "--picture", "x.svg"), "--picture draws no chances", "leave it out"),
    (("sarama@1.27.2", "blackhole", "more"), "unexpected extra argument (more)", "--help explains"),
]


@pytest.mark.parametrize(("question", "said", "remedy"), MISTAKES, ids=[said for _, said, _ in MISTAKES])
def test_a_mistake_has_one_message_and_one_suggestion(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    question: tuple[str, ...],
    said: str,
    remedy: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", *question]) == 4
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert remedy in told.err
    assert told.err.count("error: ") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_formula_that_does_not_hold_fails_and_claims_nothing(tmp_path: Path) -> None:
    done = faultlab(*ASKED, *SHORT, "--set", "Producer.Flush.Frequency=3s", cwd=tmp_path)
    assert done.code == 1
    assert re.search(r"^simulated +\d+\.\d{3} s: not what the formula says$", done.out, re.MULTILINE)
    text = " ".join(done.out.split())
    assert (
        "it would hold with Producer.Flush.Bytes 1 or Producer.Flush.Messages 1 or Producer.Flush.Frequency 0s" in text
    )
    assert not re.search(r"^(no effect|lever)", done.out, re.MULTILINE)
    assert done.widest() <= WIDTH


def test_programs_get_the_same_figures(tmp_path: Path) -> None:
    told = json.loads(faultlab(*ASKED, *SHORT, "--budget", "3s", "--json", cwd=tmp_path).out)
    assert told["predicted_s"] == pytest.approx(8.85)
    assert told["simulated"]["seconds"] == pytest.approx(8.85, abs=0.01)
    assert told["agrees"] is True
    assert sum(term["total_s"] for term in told["terms"]) == pytest.approx(told["predicted_s"])
    assert sum(wait["ended_s"] - wait["began_s"] for wait in told["waits"]) == pytest.approx(8.85, abs=0.01)
    assert "Net.WriteTimeout" in told["no_effect"]
    assert told["budget"]["ways"]
    assert all(way["simulated"]["seconds"] <= 3 for way in told["budget"]["ways"])
    assert told["budget"]["healthy_path"] == {"round_trip_s": 0.05, "broker_s": 0.25, "pause_s": 0.5}
    assert told["healed"]["rides_out_s"] > 0


SCREEN = 40
"""Lines that a terminal shows at once."""


def test_one_screen_answers_and_everything_else_is_behind_an_option(tmp_path: Path) -> None:
    for budget in ((), ("--budget", "10s")):
        done = faultlab(*ASKED, *SHORT, *budget, cwd=tmp_path)
        assert done.code == 0
        assert len(done.lines) <= SCREEN
        labels = {line[:12].strip() for line in done.lines if line[:1].strip()}
        assert {"you get", "simulated", "rides out", "the message", "recovers", "more"} <= labels
        assert labels.isdisjoint({"no effect", "holds when", "a claim", "see also", "run it"})


def test_a_budget_that_no_safe_settings_meet_says_so(tmp_path: Path) -> None:
    done = faultlab(*ASKED, *SHORT, "--budget", "300ms", cwd=tmp_path)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert re.search(r"budget 300ms cannot be met safely: .* still takes \d\.\d{3} s", text)
    assert "--round-trip 50ms --broker-time" in text


@pytest.mark.ci
def test_what_chance_decides_is_told_as_numbers_and_as_a_picture(tmp_path: Path) -> None:
    question = ("explain", "kafka-go@0.4.8", "bootstrap", "--bootstrap", "4", "--set", "dead=2", "--seeds", "60")
    done = faultlab(*question, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert len(done.lines) <= SCREEN
    for row in (
        r"^  succeeds +1\.000 s +50\.0 % +\d+\.\d %  █+$",
        r"^  succeeds +4\.000 s +33\.3 % +\d+\.\d %  █+▌?$",
        r"^  fails forever +5\.000 s +16\.7 % +\d+\.\d %  █+▌?$",
        r"^ +50\.0 %  b+$",
        r"^ +33\.3 %  t+b+$",
        r"^P\(fail\) +16\.7 % by formula",
        r"^P\(stuck\) +16\.7 % by formula",
        r"^E\[recovery\] 2\.200 s",
    ):
        assert re.search(row, done.out, re.MULTILINE), row
    told = json.loads(faultlab(*question, "--json", cwd=tmp_path).out)
    assert told["stuck"] == pytest.approx(1 / 6)
    assert sum(outcome["chance"] for outcome in told["outcomes"]) == pytest.approx(1)
    assert sum(outcome["seen"] for outcome in told["outcomes"]) == told["simulated"]["seeds"] == 60


@pytest.mark.ci
def test_the_picture_says_what_the_text_says(tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    done = faultlab(*ASKED, *SHORT, "--set", "Producer.Retry.Max=1", "--picture", file.name, cwd=tmp_path)
    assert done.code == 0
    root = ElementTree.fromstring(file.read_text())
    space = {"svg": "http://www.w3.org/2000/svg"}
    words = [text.text for text in root.iterfind(".//svg:text", space)]
    assert "sarama 1.27.2, blackhole: a send fails after 8.850 s" in words
    assert "Net.WriteTimeout + 4*Net.DialTimeout" in words
    assert {"8.850 s", "7.000 s", "6.000 s"} <= set(words)
    waits = [title.text for title in root.iterfind(".//svg:rect/svg:title", space)]
    assert waits.count("Net.WriteTimeout: 3.000 s") == 3, "one claim has one, the other two"
    assert "path" not in file.read_text() or str(tmp_path) not in file.read_text()
    again = tmp_path / "again.svg"
    faultlab(*ASKED, *SHORT, "--set", "Producer.Retry.Max=1", "--picture", again.name, cwd=tmp_path)
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.ci
@pytest.mark.cell
def test_measurements_of_earlier_suites_stand_beside_it(tmp_path: Path) -> None:
    question = ("explain", "sarama@1.27.2", "bootstrap-refused")
    assert "\nmeasured" not in faultlab(*question, cwd=tmp_path).out
    asked = ("run", "--env", "local", "--repeat", "1", "sarama-bootstrap-refused", "--out", "results/mine")
    ran = faultlab(*asked, cwd=tmp_path)
    assert ran.code == 0, ran.out
    found = re.search(r"^measured +0\.7\d\d s, local, median of (\d+) runs \(results/mine\)$",
                      faultlab(*question, cwd=tmp_path).out, re.MULTILINE)  # fmt: skip
    assert found is not None
    assert int(found[1]) >= 2
    other = faultlab(*question, "--set", "Metadata.Retry.Max=1", cwd=tmp_path).out
    assert "\nmeasured" not in other, "those runs had other settings"


def test_settings_that_the_client_refuses_together_are_told_with_what_is_missing() -> None:
    done = faultlab("explain", "sarama@1.27.2", "blackhole", "--set", "Idempotent=true", cwd=Path("/"))
    assert (done.code, done.out) == (4, "")
    assert (
        "Idempotent producer requires Producer.RequiredAcks to be WaitForAll)\n  add --set Producer.RequiredAcks="
        in (done.err)
    )
    together = ("Idempotent=true", "RequiredAcks=WaitForAll", "MaxOpenRequests=1")
    given = [word for one in together for word in ("--set", one)]
    whole = faultlab("explain", "sarama@1.27.2", "blackhole", *given, cwd=Path("/"))
    assert whole.code == 0, whole.out
    assert "invalid configuration" not in whole.out, "what the client refuses is no other case of it"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            ("sarama@1.27.2", "error_answer"),
            r"^0\.300 s = 3 x Producer\.Retry\.Backoff .*\n(.*\n)*simulated   0\.30\d s$",
        ),
        (("sarama@1.60.1", "error_answer", "--set", "Retry.Max=0"), r"write Metadata\.Retry\.Max"),
        (("sarama@1.60.1", "error_answer", "--set", "refusing.code=KAFKA_STORAGE_ERROR"), r"^0\.300 s = 3 x Producer"),
        (
            ("sarama@1.27.2", "error_answer", "--set", "refusing.code=KAFKA_STORAGE_ERROR"),
            r"^0\.000 s: nothing is waited for$",
        ),
        (("sarama@1.27.2", "restart"), r"^0\.100 s = 1 x Producer\.Retry\.Backoff .*\n(.*\n)*simulated   0\.10\d s$"),
        (("sarama@1.60.1", "restart", "--brokers", "3"), r"simulated   0\.10\d s"),
    ],
)
def test_what_brokers_answer_and_what_a_restart_costs(asked: tuple[str, ...], said: str) -> None:
    done = faultlab("explain", *asked, cwd=Path("/"))
    assert re.search(said, done.out + done.err, flags=re.MULTILINE), done.out + done.err
    assert "not so" not in done.out


def test_an_error_that_kafka_does_not_have_is_no_case_to_explain() -> None:
    given = ("--set", "refusing.code=MESSAGE_TO_LARGE")
    done = faultlab("explain", "sarama@1.27.2", "error_answer", *given, cwd=Path("/"))
    assert (done.code, done.out) == (4, "")
    assert "MESSAGE_TO_LARGE" in done.err.splitlines()[0]
    assert "did you mean MESSAGE_TOO_LARGE?" in done.err
