"""The table of time-outs as SQL of duckdb, written from docs/REPORTS.md: what Spark's table is held to.

It reads `lines`, a table of the lines of runs with the number of each one's `folder`, and of the `line` in it.
"""

QUANTILES = (25, 75, 90, 95, 99)
LINE_COLUMNS = {
    "run_id": "VARCHAR", "attempt": "BIGINT", "scenario": "VARCHAR", "client_version": "VARCHAR", "brokers": "BIGINT",
    "verdict": "VARCHAR", "parameters": "STRUCT(name VARCHAR, text VARCHAR)[]",
    "measures": "STRUCT(name VARCHAR, unit VARCHAR, value DOUBLE, censored_at DOUBLE)[]",
    "expectations": "STRUCT(measure VARCHAR, kind VARCHAR, outcome VARCHAR)[]",
}  # fmt: skip
NEAREST_RANKS = ", ".join(
    f"times[greatest(ceil({q} * len(times) / 100), 1)::BIGINT] AS p{q},"
    f" list_bool_or(unended[:greatest(ceil({q} * len(times) / 100), 1)::BIGINT]) AS p{q}_is_bound"
    for q in QUANTILES
)
TIMEOUTS_SQL = f"""
    WITH runs AS (
        SELECT * FROM lines
        QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY attempt DESC, folder DESC, line DESC) = 1
    ), found AS (
        SELECT *, array_to_string([regexp_replace(p.name, '^(settings|cluster|client)\\.', '') || '=' || p.text
                                   FOR p IN parameters], ', ') AS "case",
               unnest(measures) AS m
        FROM runs
    ), expected AS (
        SELECT *, [e.outcome FOR e IN expectations
                   IF e.measure = m.name AND e.kind <> 'claim' AND e.outcome <> 'skipped'] AS outcomes
        FROM found
    ), judged AS (
        SELECT *, CASE WHEN list_contains(outcomes, 'failed') THEN 'failed'
                       WHEN list_contains(outcomes, 'inconclusive') THEN 'inconclusive'
                       WHEN list_contains(outcomes, 'held') THEN 'held' ELSE 'unjudged' END AS outcome
        FROM expected
    ), told AS (
        SELECT *, CASE WHEN outcome IN ('held', 'failed') OR outcome = 'unjudged' AND verdict IN ('pass', 'fail')
                       THEN coalesce(m.value, m.censored_at) END AS time
        FROM judged
    ), cases AS (
        SELECT scenario, client_version, brokers, "case", m.name AS measure, m.unit AS unit, count(*) AS n,
               count(*) FILTER (outcome = 'held') AS held, count(*) FILTER (outcome = 'failed') AS failed,
               count(*) FILTER (outcome = 'inconclusive') AS inconclusive,
               count(*) FILTER (outcome = 'unjudged') AS unjudged,
               count(*) FILTER (time IS NOT NULL AND m.value IS NULL) AS censored,
               min(time) AS min, max(time) AS max, median(time) AS median,
               coalesce(list(time ORDER BY time, m.value IS NULL) FILTER (time IS NOT NULL), []) AS times,
               coalesce(list(m.value IS NULL ORDER BY time, m.value IS NULL) FILTER (time IS NOT NULL), []) AS unended
        FROM told GROUP BY ALL
    )
    SELECT *, coalesce(list_bool_or(unended[:len(times) // 2 + 1]), false) AS median_is_bound, {NEAREST_RANKS}
    FROM cases
"""
