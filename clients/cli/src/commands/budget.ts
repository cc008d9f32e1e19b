// pawl budget: what the runs of workflows with a daily budget used, day by day.

import { dayMeters, type DayMeter, plainDailyBudget, usdText } from "@pawl/client";
import type { Command } from "commander";
import { type PageFlags, pageFlags, type Verb } from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { printList, printNotes, type Session } from "../session.ts";

export function budgetVerb(program: Command, verb: Verb): void {
  const text = "Show daily budgets: what runs used, reserved and may use";
  pageFlags(verb(program, "budget [workflow]", text, show));
}

async function show(
  session: Session,
  workflowId: string | undefined,
  { limit: pageSize, pageToken }: PageFlags,
): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const asked = { workflowId, pageSize, pageToken, signal };
  const { dailyBudgets, nextPageToken } = await client.workflows.dailyBudgets(asked);
  printList(session, {
    items: dailyBudgets.flatMap((day) => dayMeters(day).map((meter) => ({ ...day, ...meter }))),
    json: { dailyBudgets: dailyBudgets.map(plainDailyBudget), nextPageToken },
    none:
      workflowId === undefined
        ? "No run of a workflow with a daily budget began in two months."
        : `${workflowId} has no daily budget. Write budget.per_day into its definition.`,
    heads: ["WORKFLOW", "DAY", "OF", "USED", "RESERVED", "LIMIT"],
    rowOf: ({ workflowId: id, day, words, ...row }) => {
      const amounts = [row.used, row.reserved, row.limit].map((each) => textOf(row, each));
      return [id, day, words, ...amounts];
    },
    next: [`${self} budget ${workflowId ?? ""}`.trim(), nextPageToken],
  });
  const [newest] = dailyBudgets;
  if (newest !== undefined && session.format === "table")
    printNotes(session, [`The budget of ${newest.day} resets at ${isoText(newest.resetTime)}.`]);
}

function textOf({ meter }: Pick<DayMeter, "meter">, amount: number | undefined): string {
  if (amount === undefined) return "-";
  return meter === "costMicros" ? usdText(amount) : String(amount);
}
