"""Protects `--set`: a mistake in it stands on the command line, and is said once for all scenarios."""

from pathlib import Path

from command_line import faultlab, write_scenario


def test_a_mistake_in_an_option_is_said_once_and_names_the_option(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_scenario(tmp_path, name)
    done = faultlab("run", ".", "--env", "sim", "--set", "Net.ReadTimeout=NaN", cwd=tmp_path)
    assert (done.code, done.out) == (4, "")
    assert done.err == (
        "--set Net.ReadTimeout=NaN: error[quantity]: Net.ReadTimeout: `NaN` is not a duration\n"
        "  write it as 250ms, 1s or 1m30s\n"
        "\n1 problem on the command line; nothing was started\n"
    )


def test_ci_sees_it_once_too_and_no_file_beside_it(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one")
    write_scenario(tmp_path, "two")
    summary = tmp_path / "summary.md"
    runner = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    done = faultlab("run", ".", "--ci", "--set", "Net.ReadTimout=1s", cwd=tmp_path, env=runner)
    told = "--set Net.ReadTimout=1s: sarama has no setting Net.ReadTimout (did you mean Net.ReadTimeout?)"
    assert done.err.splitlines() == [
        f"error[unknown-setting]: {told}",
        f"::error title=unknown-setting::{told}",
    ]
    assert summary.read_text().startswith("### faultlab: 1 problem on the command line, nothing was started\n")


def test_mistakes_in_files_are_counted_beside_it(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one", formula="Net.ReadTimout")
    done = faultlab("run", ".", "--env", "sim", "--set", "Net.DialTimeout=never", cwd=tmp_path)
    assert done.code == 4
    assert done.err.endswith("2 problems in 1 file and on the command line; nothing was started\n")


def test_a_setting_that_only_a_selected_scenario_has_is_no_mistake(tmp_path: Path) -> None:
    write_scenario(tmp_path, "old")
    new = write_scenario(tmp_path, "new", formula="Net.ReadTimeout + 4*Net.DialTimeout + 3*Metadata.Retry.Backoff")
    new.write_text(new.read_text().replace("version: 1.27.2", "version: 1.60.1"))
    given = ("--env", "sim", "--set", "Metadata.SingleFlight=false")
    alone = faultlab("run", ".", *given, "--only", "new", "--out", "r", cwd=tmp_path)
    assert alone.code != 4, alone.err
    assert "1 scenario, 1 run" in alone.out
    both = faultlab("run", ".", *given, cwd=tmp_path)
    assert both.code == 4
    assert "sarama 1.27.2 has no setting Metadata.SingleFlight (only 1.60.1)" in both.err
