// Every SQL statement of the store, and what Postgres means to do with it.

import { readdir } from "node:fs/promises";
import type { Queryable, Statement } from "@pawl/platform/db/sql";
import { z } from "zod";

const FOLDER = new URL("../../services/platform/src/store/statements/", import.meta.url);
const statementShape = z.object({ name: z.string(), text: z.string() });

/** A statement and the file it lives in. */
export interface KnownStatement extends Statement {
  readonly file: string;
}

/** All statements, in order of their files. */
export async function allStatements(): Promise<KnownStatement[]> {
  const files = (await readdir(FOLDER)).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const known: KnownStatement[] = [];
  for (const file of files.toSorted()) {
    const module: object = await import(new URL(file, FOLDER).href);
    for (const value of Object.values(module)) {
      known.push({ ...statementShape.parse(value), file });
    }
  }
  return known;
}

/** A step of a plan that reads a table: how, and what narrows it. */
export interface Scan {
  readonly how: string;
  readonly table: string;
  /** False for a walk through a whole index. */
  readonly isNarrowed: boolean;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The scans of the plan that a prepared statement gets, whatever its arguments. */
export async function plannedScans(db: Queryable, { text }: Statement): Promise<Scan[]> {
  const explain = `explain (generic_plan, format json) ${text}`;
  const { rows } = await db.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>({
    text: explain,
  });
  return rows.flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => scansOf(Plan)));
}

function scansOf(plan: PlanNode): Scan[] {
  const below = (plan.Plans ?? []).flatMap(scansOf);
  const table = plan["Relation Name"];
  const how = plan["Node Type"];
  if (table === undefined || !how.endsWith("Scan")) return below;
  return [{ how, table, isNarrowed: plan["Index Cond"] !== undefined }, ...below];
}
