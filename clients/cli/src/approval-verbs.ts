// The verbs of `pawl approval`.

import type { Command } from "commander";
import { approvalApprove, approvalGet, approvalList, approvalReject } from "./commands/approval.ts";
import type { Grammar } from "./schedule-verbs.ts";

export function approvalVerbs(
  program: Command,
  { verb, act, wholeNumber }: Pick<Grammar, "verb" | "act" | "wholeNumber">,
): void {
  const approval = program.command("approval").description("what waits for people, and answers");
  verb(approval, "list", "list what waits for an answer, newest first")
    .option("--state <state...>", "only these states, such as approved or timed_out; default open")
    .option("--all", "in any state")
    .option("--workflow <id>", "only of this workflow")
    .option("--run <id>", "only of this run")
    .option("--assignee <name>", "only those that name this assignee")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(approvalList));
  verb(approval, "get <approval>", "show what is asked, and how a response must look").action(
    act(approvalGet),
  );
  const answer = (command: Command): Command =>
    command
      .option("--response <json>", "the response: JSON, or @FILE")
      .option("--comment <text>", "why, for people")
      .option("--by <name>", "who answers, for people")
      .option("--request-id <id>", "makes a repeat harmless");
  answer(verb(approval, "approve <approval>", "answer yes")).action(act(approvalApprove));
  answer(verb(approval, "reject <approval>", "answer no")).action(act(approvalReject));
}
