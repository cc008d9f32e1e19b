// pawl approval list, get, approve, reject.

import { APPROVAL_STATE_NAMES, approvalStateOf, PawlError, plainApproval } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { approvalLines, approvalTable, schemaLines } from "../render/approval.ts";
import { violationLines } from "../render/fault.ts";
import { tableLines } from "../render/table.ts";
import { readJsonFlag } from "../run-input.ts";
import { canvasOf, printJson, printLines, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

export interface ApprovalListFlags {
  readonly state?: readonly string[];
  readonly all?: boolean;
  readonly workflow?: string;
  readonly run?: string;
  readonly assignee?: string;
  readonly limit?: number;
  readonly pageToken?: string;
}

/** A page of approvals, newest first; what is open unless other states are asked for. */
export async function approvalList(session: Session, flags: ApprovalListFlags): Promise<ExitCode> {
  const { workflow: workflowId, run: runId, assignee, limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal, terminal, self } = session;
  const states = statesOf(flags);
  const filter = { states, workflowId, runId, assignee };
  const page = await client.approvals.list({ ...filter, pageSize, pageToken, signal });
  const { approvals, nextPageToken } = page;
  if (session.format === "json") {
    printJson(session, { approvals: approvals.map(plainApproval), nextPageToken });
    return EXIT.ok;
  }
  if (approvals.length === 0) {
    const isOpenOnly = states.length === 1 && states[0] === ApprovalState.OPEN;
    const hint = `Nothing waits for an answer. See closed ones with \`${self} approval list --all\`.`;
    printLines(session, [isOpenOnly ? hint : "No approvals."]);
    return EXIT.ok;
  }
  const { heads, rows } = approvalTable(approvals, { isTty: terminal.isTty, nowMs: session.now() });
  printLines(session, tableLines(heads, rows, canvasOf(session)));
  if (nextPageToken !== "")
    printLines(session, [`More: the same with --page-token ${nextPageToken}`]);
  if (terminal.isTty)
    printLines(session, [`Read one with \`${self} approval get APPROVAL\`; approve or reject it.`]);
  return EXIT.ok;
}

function statesOf({ state: names = ["open"], all = false }: ApprovalListFlags): ApprovalState[] {
  if (all) return [];
  return names.map((name) => {
    const state = approvalStateOf(name);
    if (state === undefined)
      throw new UsageError(`--state ${name}: use one of ${APPROVAL_STATE_NAMES.join(", ")}`);
    return state;
  });
}

/** One approval, with the schema of its response. */
export async function approvalGet(session: Session, approvalId: string): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  return show(session, await client.approvals.get(approvalId, { signal }));
}

export interface AnswerFlags {
  readonly response?: string;
  readonly comment?: string;
  readonly by?: string;
  readonly requestId?: string;
}

export const approvalApprove = (
  session: Session,
  approvalId: string,
  flags: AnswerFlags,
): Promise<ExitCode> => answer(session, "approve", approvalId, flags);

export const approvalReject = (
  session: Session,
  approvalId: string,
  flags: AnswerFlags,
): Promise<ExitCode> => answer(session, "reject", approvalId, flags);

async function answer(
  session: Session,
  verb: "approve" | "reject",
  approvalId: string,
  flags: AnswerFlags,
): Promise<ExitCode> {
  const { response, comment, by: decidedBy, requestId } = flags;
  const { client, interrupted: signal } = session;
  const responseJson =
    response === undefined ? undefined : await readJsonFlag(session, "response", response);
  const options = { responseJson, comment, decidedBy, requestId, signal };
  try {
    return show(session, await client.approvals[verb](approvalId, options));
  } catch (thrown) {
    if (!isMisfit(thrown)) throw thrown;
    return sayMisfit(session, approvalId, thrown);
  }
}

const RESPONSE = /^response_json\b/;

const isMisfit = (thrown: unknown): thrown is PawlError =>
  thrown instanceof PawlError &&
  thrown.reason === "INPUT_INVALID" &&
  thrown.violations.some(({ path }) => RESPONSE.test(path));

/** Where the response does not fit, and what would. */
async function sayMisfit(
  session: Session,
  approvalId: string,
  { violations }: PawlError,
): Promise<ExitCode> {
  const { client, interrupted: signal, terminal } = session;
  // What is wrong is worth saying also when the schema cannot be had.
  const asked = await client.approvals.get(approvalId, { signal }).catch(() => undefined);
  const schema = asked === undefined ? [] : schemaLines(asked);
  const lines = [
    `error: the response does not fit approval ${approvalId}; nothing was changed`,
    ...violationLines(
      violations.map((each) => ({ ...each, path: each.path.replace(RESPONSE, "response") })),
    ),
    ...(schema.length === 0 ? [] : ["The response must fit:", ...schema]),
    "Give one that does with --response '…', or --response @FILE.",
  ];
  terminal.writeError(lines.map((line) => `${line}\n`).join(""));
  return EXIT.usage;
}

function show(session: Session, approval: Approval): ExitCode {
  if (session.format === "json") printJson(session, plainApproval(approval));
  else printLines(session, approvalLines(approval, session.self));
  return EXIT.ok;
}
