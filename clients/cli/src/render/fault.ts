// An error in words for a person: the fault, and the next step.

import { PawlError, type PawlReason, type Violation } from "@pawl/client";
import { EXIT, type ExitCode, UsageError } from "../session.ts";
import { safeText } from "./spans.ts";

interface Fault {
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

interface FaultContext {
  readonly address: string;
  /** The command by which a person calls the command line. */
  readonly self: string;
}

/** The words and the exit code of an error that a command threw. */
export function faultOf(thrown: unknown, context: FaultContext): Fault {
  if (thrown instanceof UsageError) {
    return { lines: [`error: ${thrown.message}`], exitCode: EXIT.usage };
  }
  if (!(thrown instanceof PawlError)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { lines: [`error: ${safeText(message)}`], exitCode: EXIT.server };
  }
  const head =
    thrown.reason === "UNREACHABLE"
      ? `error: cannot reach the gateway at ${context.address}`
      : `error: ${safeText(thrown.message)} (${thrown.serverReason ?? thrown.reason})`;
  // The message already names a single bad field.
  const isSaid = thrown.reason === "INPUT_INVALID" && thrown.violations.length === 1;
  const listed = isSaid ? [] : thrown.violations;
  return {
    lines: [head, ...violationLines(listed), ...adviceOf(thrown, context)],
    exitCode: exitCodeOf(thrown),
  };
}

/** Broken rules, one on each line: the place, the fault and the rule. */
export const violationLines = (violations: readonly Violation[]): readonly string[] =>
  violations.map(
    ({ path, reason, message }) =>
      `  ${safeText(path === "" ? "(definition)" : path)}: ${safeText(message)} [${safeText(reason)}]`,
  );

function exitCodeOf({ reason }: PawlError): ExitCode {
  if (reason === "DEFINITION_INVALID" || reason === "CYCLE_DETECTED") return EXIT.failed;
  return reason === "INPUT_INVALID" ? EXIT.usage : EXIT.server;
}

const TRY_LATER = "The gateway runs, but cannot serve this now. Try again in a moment.";
const MEND = "Nothing was saved. Correct the definition and try again.";

/** The next step, if a command helps. The server advises about the rest. SELF becomes the command that the person called. */
const ADVICE: Partial<Record<PawlReason, string>> = {
  UNREACHABLE: "Start it with `npm start`, or name another with --address or PAWL_ADDRESS.",
  WORKFLOW_NOT_FOUND:
    "List the workflows with `SELF workflow list`, or save it with `SELF workflow apply -f FILE`.",
  RUN_NOT_FOUND: "List the runs with `SELF run list`.",
  RUN_ALREADY_FINISHED: "See how it ended with `SELF run get RUN_ID`.",
  NODE_NOT_FOUND: "See its nodes with `SELF run get RUN_ID`.",
  WORKFLOW_PAUSED:
    "List the pauses with `SELF queue pauses`; then `SELF workflow resume WORKFLOW`.",
  NODE_TYPE_NOT_FOUND: "See the types with `SELF queue depth`, or in docs/reference/node-types.md.",
  NODE_NOT_HELD:
    "Ask why it waits with `SELF run explain RUN_ID NODE`; name an item of a map with --iteration.",
  NODE_ALREADY_DECIDED: "Someone has decided already. See the result with `SELF run get RUN_ID`.",
  APPROVAL_NOT_FOUND: "List the approvals with `SELF approval list --all`.",
  APPROVAL_CLOSED: "See how it ended with `SELF approval get APPROVAL_ID`.",
  DEFINITION_INVALID: MEND,
  CYCLE_DETECTED: MEND,
  REQUEST_ID_REUSED: "Remove --request-id, or choose another id.",
  OVERLOADED: TRY_LATER,
  STORE_UNAVAILABLE: TRY_LATER,
  SCHEDULER_UNAVAILABLE: TRY_LATER,
  DRAINING: TRY_LATER,
  UNKNOWN_METHOD:
    "Another program than a Pawl gateway, or an older gateway, answers at this address. Check --address.",
};

/** The fields of a request that hold the input of a run. */
const INPUT_FIELDS: ReadonlySet<string> = new Set(["input", "input_json"]);
const SAMPLE =
  "If the workflow has a sample input, `SELF run start WORKFLOW --sample` starts it with that.";

function adviceOf(thrown: PawlError, { self }: FaultContext): readonly string[] {
  const { reason, requestId, violations, next } = thrown;
  const isInput = violations.some(({ path }) => INPUT_FIELDS.has(path));
  const advice = (isInput ? SAMPLE : (ADVICE[reason] ?? next))?.replaceAll("SELF", self);
  return [
    ...(advice === undefined ? [] : [advice]),
    ...(requestId === undefined ? [] : [`Quote request ${safeText(requestId)} in a report.`]),
  ];
}
