// pg-boss stays behind the interfaces of queue/: another queue changes that room and the file that composes a scheduler, and no other.
import { expect, test } from "vitest";
import { targetOf } from "./rooms.ts";
import { isTest, isTypeScript, trackedSources } from "./sources.ts";
import { importsOf, parse } from "./syntax.ts";

const QUEUE = "services/platform/src/queue/";
/** The tables of pg-boss that a statement can name. */
const TABLES = ["job", "job_common", "queue", "schedule", "subscription", "version", "archive"];
const NAMES_TABLE = new RegExp(
  `\\b(?:from|join|into|update|table)\\s+(?:(?:pgboss|\\{queue\\})\\.\\w+|(?:${TABLES.join("|")})(?![\\w.]))`,
);

const outside = trackedSources(
  (path) =>
    /^(services|clients|deploy)\/.*\.(ts|tsx|sql)$/.test(path) &&
    !path.startsWith(QUEUE) &&
    !isTest(path),
);
/** Comments of SQL may speak of a job. */
const statementsOf = ({ path, text }: { readonly path: string; readonly text: string }): string =>
  path.endsWith(".sql") ? text.replaceAll(/--.*$/gm, "") : stringsOf(text);
const stringsOf = (text: string): string => (text.match(/`[^`]*`|"[^"\n]*"/g) ?? []).join("\n");

test("no statement outside of queue/ names a table of pg-boss (S3.54)", () => {
  const guilty = outside.filter((source) => NAMES_TABLE.test(statementsOf(source)));
  expect(guilty.map(({ path }) => path)).toEqual([]);
  const inside = trackedSources((path) => path === `${QUEUE}queries.sql`);
  expect(inside.some((source) => NAMES_TABLE.test(statementsOf(source)))).toBe(true);
});

test("only the file that composes a scheduler imports the parts that know pg-boss (S3.54)", () => {
  // Rules of schedules are pure functions of a library inside pg-boss; they know no queue.
  const isBoss = (target: string): boolean =>
    target.startsWith(`${QUEUE}boss`) && !target.startsWith(`${QUEUE}boss-occurrences`);
  const importers = outside
    .filter(({ path }) => isTypeScript(path))
    .filter((source) =>
      importsOf(parse(source)).some((specifier) => isBoss(targetOf(source.path, specifier))),
    );
  expect(importers.map(({ path }) => path)).toEqual(["services/scheduler/src/open-stores.ts"]);
});
