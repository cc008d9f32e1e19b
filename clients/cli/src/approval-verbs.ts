// The verbs of `pawl approval`.

import type { Command } from "commander";
import { approvalApprove, approvalGet, approvalList, approvalReject } from "./commands/approval.ts";
import { REQUEST_ID } from "./help.ts";
import type { Grammar } from "./schedule-verbs.ts";

export function approvalVerbs(
  program: Command,
  { verb, act, wholeNumber }: Pick<Grammar, "verb" | "act" | "wholeNumber">,
): void {
  const approval = program.command("approval").description("List and answer questions to people");
  verb(approval, "list", "List open questions, newest first")
    .option("--state <state...>", "only these states, such as approved or timed_out; default open")
    .option("--all", "in any state")
    .option("--workflow <id>", "only of this workflow")
    .option("--run <id>", "only of this run")
    .option("--assignee <name>", "only those that name this assignee")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(approvalList));
  verb(approval, "get <approval>", "Show a question and how its response must look").action(
    act(approvalGet),
  );
  const answer = (command: Command): Command =>
    command
      .option("--response <json>", "the response: JSON, or @FILE")
      .option("--comment <text>", "comment on the answer")
      .option("--by <name>", "name of the person who answers")
      .option("--request-id <id>", REQUEST_ID);
  answer(verb(approval, "approve <approval>", "Answer yes")).action(act(approvalApprove));
  answer(verb(approval, "reject <approval>", "Answer no")).action(act(approvalReject));
}
