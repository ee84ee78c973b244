"""Everything that the page shows, in its order, ready to be written down: no template computes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.records.manifest import Manifest
from reports.charts.badges import badges
from reports.charts.timeline import Timeline, with_page_badges
from reports.pages import summary
from reports.pages.agreement import Agreements, agreements_of
from reports.pages.attempts import Attempts, attempts_of
from reports.pages.attention import AttentionCard, attention_of
from reports.pages.cases import DisplayNames, Row, cases_of, local_folders, replay_command
from reports.pages.causes import causes_of
from reports.pages.claims import Claim, claims_of
from reports.pages.groups import GroupRow, groups_of, judged_groups
from reports.pages.heat import Heat, LongestHang, heat_of
from reports.pages.recovery import Recovery, recovery_of
from reports.pages.runs import Noise, RunRow, noise_of, runs_of
from reports.pages.timeline_runs import ChosenRun
from reports.pages.times import Scenario, TimeRow, scenarios_of, time_rows, unjudged_rows
from reports.pages.truncate import Truncated, truncate
from reports.pages.waits import Waits, waits_of
from reports.remarks import duplicate_run_remarks

Tables = Mapping[str, Sequence[Row]]
MAX_UNJUDGED = 250
MAX_QUARANTINED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineCard:
    """A run with its time line."""

    choice: ChosenRun
    client: str
    fault: str
    line: Timeline
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    headline: str
    longest: LongestHang | None
    lead: str
    facts: str
    commands: tuple[str, ...]
    warnings: tuple[str, ...]
    counts: tuple[tuple[str, str, int], ...]
    attention: Truncated[AttentionCard]
    heat: Heat
    claims: tuple[Claim, ...]
    claims_finding: str
    scenarios: Truncated[Scenario]
    judged_finding: str
    groups: Truncated[GroupRow]
    groups_finding: str
    agreement: Agreements | None
    recovery: Recovery | None
    timelines: tuple[TimelineCard, ...]
    waits: Waits | None
    attempts: Attempts | None
    unjudged: Truncated[TimeRow]
    runs: Truncated[RunRow]
    noise: Noise | None
    environment: tuple[tuple[str, str], ...]
    quarantined: Truncated[Row]


def build_page(
    tables: Tables,
    manifests: Sequence[Manifest],
    quarantined: Sequence[Row],
    timelines: Sequence[tuple[ChosenRun, Timeline]],
) -> Page:
    runs = tables["runs"]
    folders = local_folders(tables["folders"])
    cases = cases_of(runs, tables["groups"], folders)
    names = DisplayNames.for_cases(cases)
    judged = tuple(time_rows(tables["expectations"], cases, names))
    without_verdict = unjudged_rows(tables["timeouts"], cases, names)
    claims = claims_of(tables["claims"], tables["groups"], names)
    causes = causes_of(tables["waits"], cases)
    heat = heat_of(cases, tables["timeouts"], names, causes)
    agreement = agreements_of(tables["agreement"])
    marks = badges(
        [
            *(badge.setting for _, line in timelines for badge in line.legend),
            *sorted({row["setting"] for row in tables["waits"]}),
        ]
    )
    drawn = {choice.run["run_id"] for choice, _ in timelines}
    return Page(
        headline=summary.headline(cases.values()),
        longest=heat.longest,
        lead=summary.lead(heat, claims, agreement.finding if agreement else ""),
        facts=summary.facts(runs, manifests),
        commands=summary.commands(manifests),
        warnings=(*summary.warnings(runs, manifests, quarantined), *duplicate_run_remarks(tables["folders"])),
        counts=summary.counts(cases.values()),
        attention=attention_of(cases, judged, tables["waits"], names, marks, drawn),
        heat=heat,
        claims=claims,
        claims_finding=summary.claimed(claims),
        scenarios=scenarios_of(judged, cases),
        judged_finding=summary.judged(row.verdict for row in judged),
        groups=groups_of(tables["groups"], names),
        groups_finding=summary.statistics(row["verdict"] for row in judged_groups(tables["groups"])),
        agreement=agreement,
        recovery=recovery_of(tables["recovery"], names),
        timelines=tuple(
            TimelineCard(
                choice=choice,
                client=names.of(choice.run),
                fault=names.fault(choice.run),
                line=with_page_badges(line, marks),
                replay=replay_command(choice.run["run_id"], folders.get(choice.run["suite"], "")),
            )
            for choice, line in timelines
        ),
        waits=waits_of(tables["waits"], tables["timeouts"], names, marks),
        attempts=attempts_of(tables["attempts"], cases, names),
        unjudged=truncate(without_verdict, MAX_UNJUDGED, "report/timeouts.parquet", worst_first=False),
        runs=runs_of(runs, names, folders),
        noise=noise_of(tables["noise"]),
        environment=summary.environment(runs, manifests),
        quarantined=truncate(quarantined, MAX_QUARANTINED, "report/quarantined.parquet", worst_first=False),
    )
