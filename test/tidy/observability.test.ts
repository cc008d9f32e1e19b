// The dashboard and the alert rules of deploy/observability: every expression parses, and names metrics and labels that Pawl has.
import { existsSync, readFileSync } from "node:fs";
import { parser } from "@prometheus-io/lezer-promql";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { metricTable } from "./docs/metrics.ts";

const file = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string().min(1),
      gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});
const alertsSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(["warning", "critical"]) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

const { panels } = dashboardSchema.parse(JSON.parse(file("deploy/observability/dashboard.json")));
const rules = alertsSchema
  .parse(parse(file("deploy/observability/alerts.yaml")))
  .groups.flatMap((group) => group.rules);

/** The labels of each series, under the names that Prometheus gives them. */
const series = new Map<string, readonly string[]>();
for (const line of metricTable().split("\n").slice(2)) {
  const [, name = "", kind = "", labels = ""] = line.split("|").map((cell) => cell.trim());
  const metric = name.replaceAll("`", "").replaceAll(".", "_");
  const own = [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label);
  if (kind !== "histogram") series.set(metric, own);
  else for (const end of ["bucket", "count", "sum"]) series.set(`${metric}_${end}`, [...own, "le"]);
}

/** What is wrong with an expression. */
function faultsOf(expression: string): string[] {
  const text = expression.replaceAll("$__rate_interval", "5m");
  const faults: string[] = [];
  const names: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) faults.push(`does not parse at ${from}`);
      if (type.name === "Identifier") names.push(text.slice(from, to));
      if (type.name === "LabelName") labels.push(text.slice(from, to));
    },
  });
  if (names.length === 0) faults.push("names no metric");
  const known = new Set(names.flatMap((name) => series.get(name) ?? []));
  faults.push(...names.filter((name) => !series.has(name)).map((name) => `no metric ${name}`));
  faults.push(...labels.filter((label) => !known.has(label)).map((label) => `no label ${label}`));
  return faults;
}

test("an expression with a wrong metric, a wrong label or a wrong bracket is found", () => {
  expect(faultsOf("sum(pawl_leases)")).toEqual([]);
  expect(faultsOf("sum(pawl_lease)")).toEqual(["no metric pawl_lease"]);
  expect(faultsOf("sum by (node) (pawl_queue_depth)")).toEqual(["no label node"]);
  expect(faultsOf("sum((pawl_leases)").join()).toContain("does not parse");
});

test("every panel of the dashboard shows metrics that Pawl has, and no panel covers another", () => {
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(20);
  for (const expression of expressions)
    expect([expression, ...faultsOf(expression)]).toHaveLength(1);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

/** Metrics that no panel shows, and why. */
const UNSHOWN: Readonly<Record<string, string>> = {
  rpc_client_call_duration: "the servers of the same calls are shown",
  pawl_claims_overdue_total: "each such claim is a timeout, which the retries show",
  pawl_command_backlog: "the sum of two states of pawl_commands",
  pawl_dead_letters_total: "the open dead letters are shown",
  pawl_deltas_folded_total: "the size of the database shows what it saves",
  pawl_executors_alive: "each scheduler shows its connected executors",
  pawl_handler_late_items_total: "a detail of one handler process, for its developer",
  pawl_handler_sessions_lost_total: "the lost leases are shown",
  pawl_internal_faults_total: "an alert watches it; its normal value is zero",
  pawl_months_removed_total: "at most once a month",
  pawl_nodes_started_total: "the ends of nodes are shown, and an alert compares both",
  pawl_occurrences_skipped_total: "each schedule names its last fault",
  pawl_occurrences_started_total: "the runs that they start are shown",
  pawl_runs_restored_total: "a person restores a run and gets the answer",
  pawl_sandbox_kills_total: "the failed nodes have the cause js_killed",
  pawl_snapshots_written_total: "a detail of long runs, for benchmarks",
  pawl_stranded_resent_total: "its normal value is zero, and the log has each case",
  pawl_sweep_duration_seconds: "the durations of ticks show a slow database first",
  pawl_temporary_runs_deleted_total: "temporary runs are counted when they end",
};

test("a panel shows every metric, or there is a reason (S4.44)", () => {
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(" ");
  const names = [...series.keys()].map((name) => name.replace(/_(bucket|count|sum)$/, ""));
  const unshown = names.filter((name) => !new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(shown));
  expect([...new Set(unshown)].toSorted()).toEqual(Object.keys(UNSHOWN).toSorted());
});

test("every alert watches metrics that Pawl has, and names an entry of the runbook", () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, annotations } of rules) {
    expect([alert, ...faultsOf(expr)]).toEqual([alert]);
    const [page = "", anchor] = annotations.runbook.split("#");
    expect(existsSync(new URL(`../../${page}`, import.meta.url))).toBe(true);
    const headings = [...file(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    );
    if (anchor !== undefined) expect(headings).toContain(anchor);
  }
});
