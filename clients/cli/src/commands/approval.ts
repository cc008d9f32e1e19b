// pawl approval list, get, approve, reject.

import { APPROVAL_STATE_NAMES, approvalStateOf, PawlError, plainApproval } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { Command } from "commander";
import {
  EXIT,
  type ExitCode,
  print,
  printLines,
  printList,
  printNotes,
  type Session,
  UsageError,
} from "../session.ts";
import { type PageFlags, pageFlags, requestIdFlag, type Verb } from "../grammar.ts";
import { approvalColumns, approvalLines, schemaLines } from "../render/approval.ts";
import { violationLines } from "../render/fault.ts";
import { readJsonFlag } from "../run-input.ts";

export function approvalVerbs(approval: Command, verb: Verb): void {
  pageFlags(
    verb(approval, "list", "List open questions, newest first", list)
      .option(
        "--state <state...>",
        "only these states, such as approved or timed_out; default open",
      )
      .option("--all", "in any state")
      .option("--workflow <id>", "only of this workflow")
      .option("--run <id>", "only of this run")
      .option("--assignee <name>", "only those that name this assignee"),
  );
  verb(approval, "get <approval>", "Show a question and how its response must look", get);
  for (const [name, description] of [
    ["approve", "Answer yes"],
    ["reject", "Answer no"],
  ] as const) {
    requestIdFlag(
      verb(approval, `${name} <approval>`, description, answer(name))
        .option("--response <json>", "the response: JSON, or @FILE")
        .option("--comment <text>", "comment on the answer")
        .option("--by <name>", "name of the person who answers"),
    );
  }
}

interface ListFlags extends PageFlags {
  readonly state?: readonly string[];
  readonly all?: boolean;
  readonly workflow?: string;
  readonly run?: string;
  readonly assignee?: string;
}

/** A page of approvals, newest first. Only open ones unless the flags name other states. */
async function list(session: Session, flags: ListFlags): Promise<void> {
  const { workflow: workflowId, run: runId, assignee, limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal, terminal, self } = session;
  const states = statesOf(flags);
  const filter = { states, workflowId, runId, assignee };
  const page = await client.approvals.list({ ...filter, pageSize, pageToken, signal });
  const { approvals: items, nextPageToken } = page;
  const isOpenOnly = states.length === 1 && states[0] === ApprovalState.OPEN;
  const hint = `No approval is open. See closed approvals with \`${self} approval list --all\`.`;
  const columns = approvalColumns(terminal.isTty, session.now());
  printList(session, {
    items,
    json: { approvals: items.map(plainApproval), nextPageToken },
    none: isOpenOnly ? hint : "No approvals.",
    heads: columns.map(([head]) => head),
    rowOf: (approval) => columns.map(([, cell]) => cell(approval)),
    next: ["the same with", nextPageToken],
  });
  if (terminal.isTty && session.format === "table" && items.length > 0)
    printLines(session, [`Read one with \`${self} approval get APPROVAL\`; approve or reject it.`]);
}

function statesOf({ state: names = ["open"], all = false }: ListFlags): ApprovalState[] {
  if (all) return [];
  return names.map((name) => {
    const state = approvalStateOf(name);
    if (state === undefined)
      throw new UsageError(`--state ${name}: use one of ${APPROVAL_STATE_NAMES.join(", ")}`);
    return state;
  });
}

/** One approval, with the schema of its response. */
async function get(session: Session, approvalId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  show(session, await client.approvals.get(approvalId, { signal }));
}

interface AnswerFlags {
  readonly response?: string;
  readonly comment?: string;
  readonly by?: string;
  readonly requestId?: string;
}

const answer =
  (verb: "approve" | "reject") =>
  async (session: Session, approvalId: string, flags: AnswerFlags): Promise<ExitCode> => {
    const { response, comment, by: decidedBy, requestId } = flags;
    const { client, interrupted: signal } = session;
    const responseJson =
      response === undefined ? undefined : await readJsonFlag(session, "response", response);
    const options = { responseJson, comment, decidedBy, requestId, signal };
    try {
      show(session, await client.approvals[verb](approvalId, options));
      return EXIT.ok;
    } catch (thrown) {
      if (!isMisfit(thrown)) throw thrown;
      await printMisfit(session, approvalId, thrown);
      return EXIT.usage;
    }
  };

const RESPONSE = /^response_json\b/;

const isMisfit = (thrown: unknown): thrown is PawlError =>
  thrown instanceof PawlError &&
  thrown.reason === "INPUT_INVALID" &&
  thrown.violations.some(({ path }) => RESPONSE.test(path));

/** Prints the places where the response breaks the schema, and the schema. */
async function printMisfit(
  session: Session,
  approvalId: string,
  { violations }: PawlError,
): Promise<void> {
  const { client, interrupted: signal } = session;
  // The violations help even if the schema cannot be read.
  const asked = await client.approvals.get(approvalId, { signal }).catch(() => undefined);
  const schema = asked === undefined ? [] : schemaLines(asked);
  printNotes(session, [
    `error: the response does not fit the schema of approval ${approvalId}; nothing was changed`,
    ...violationLines(
      violations.map((each) => ({ ...each, path: each.path.replace(RESPONSE, "response") })),
    ),
    ...(schema.length === 0 ? [] : ["The response must fit:", ...schema]),
    "Give a response that fits the schema: --response '…', or --response @FILE.",
  ]);
}

const show = (session: Session, approval: Approval): void =>
  print(session, plainApproval(approval), () => approvalLines(approval, session.self));
