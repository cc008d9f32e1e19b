// pawl handler doctor checks the handler port, the processes behind it, and the saved workflows. Executors must serve the types of the
// workflows, and the workflows must fit the schemas of the types. It prints one line for each finding, and only reads.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { PawlError, type PawlClient } from "@pawl/client";
import { addressesOf } from "@pawl/core/name/addresses";
import {
  HandlerService,
  type Session as HandlerSession,
  SessionState,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { wrapText } from "../render/spans.ts";
import { formatDuration } from "../render/words.ts";
import { canvasOf, EXIT, type ExitCode, print, type Session } from "../session.ts";
import { placedLines } from "./definition-faults.ts";
import { type SavedWorkflow, savedWorkflows } from "./saved-workflows.ts";

interface DoctorFlags {
  readonly handlerAddress: string;
  readonly token?: string;
}

interface Finding {
  readonly level: "ok" | "warning" | "error";
  /** What is so. */
  readonly what: string;
  /** What to do; absent if nothing is wrong. */
  readonly next?: string;
}

const TIMEOUT_MS = 5_000;
/** A function that runs this long after its cancel ignores it. */
const IGNORED_MS = 5_000n;
const PAGE_SIZE = 200;

/** Prints every finding; the exit code is 1 if one is an error. */
export async function doctor(session: Session, flags: DoctorFlags): Promise<ExitCode> {
  const findings = [...(await hostFindings(flags)), ...(await catalogueFindings(session))];
  print(session, { findings }, () => findings.flatMap((finding) => linesOf(session, finding)));
  return findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.ok;
}

const LEVEL_WIDTH = 9;

function linesOf(session: Session, { level, what, next }: Finding): readonly string[] {
  const text = next === undefined ? what : `${what}. ${next}`;
  return wrapText(text, canvasOf(session).width - LEVEL_WIDTH).map(
    (line, at) => `${(at === 0 ? level : "").padEnd(LEVEL_WIDTH)}${line}`,
  );
}

/** The handler ports, and the sessions behind each. A process serves one executor, so one port with a session is enough. */
async function hostFindings({ handlerAddress, token }: DoctorFlags): Promise<Finding[]> {
  const addresses = addressesOf(handlerAddress);
  if (addresses.length === 0) return [noAddress(handlerAddress)];
  const ports = await Promise.all(addresses.map((address) => portOf(address, token)));
  const findings = ports.flatMap((port) => port.findings);
  const isIdle = ports.some(({ sessions }) => sessions !== undefined);
  if (!isIdle || ports.some(({ sessions = [] }) => sessions.length > 0)) return findings;
  const next = `Start one with PAWL_HANDLER_ADDRESS=${handlerAddress}.`;
  return [...findings, { level: "warning", what: "no handler process is connected", next }];
}

interface Port {
  readonly findings: readonly Finding[];
  /** undefined if the port does not list them. */
  readonly sessions?: readonly HandlerSession[];
}

async function portOf(address: string, token: string | undefined): Promise<Port> {
  const baseUrl = `http://${address}`;
  if (!URL.canParse(baseUrl)) return { findings: [noAddress(address)] };
  const host = createClient(HandlerService, createGrpcTransport({ baseUrl }));
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    const { sessions } = await host.listSessions({}, { headers, timeoutMs: TIMEOUT_MS });
    const answers: Finding = { level: "ok", what: `the handler port answers at ${address}` };
    return { findings: [answers, ...sessions.flatMap(sessionFindings)], sessions };
  } catch (thrown) {
    return { findings: [portFault(address, ConnectError.from(thrown))] };
  }
}

const noAddress = (text: string): Finding => ({
  level: "error",
  what: `"${text}" is not an address`,
  next: "Write host:port, such as 127.0.0.1:7404; separate several by commas.",
});

function portFault(address: string, { code, rawMessage }: ConnectError): Finding {
  const error = (what: string, next: string): Finding => ({ level: "error", what, next });
  if (code === Code.PermissionDenied || code === Code.Unauthenticated)
    return error(
      `${address} refuses the token`,
      "Set PAWL_HANDLER_TOKEN to the token of the executor.",
    );
  if (code === Code.Unimplemented)
    return error(
      `${address} does not speak this handler protocol`,
      "It may be another port of Pawl, or an older executor.",
    );
  const next = "Start Pawl, or set PAWL_HANDLER_ADDRESS; see PAWL_HANDLER_PORT of the executor.";
  return error(`the handler port ${address} does not answer: ${rawMessage}`, next);
}

function sessionFindings(process: HandlerSession): Finding[] {
  const { name, language, sdk, build, slots, busy, types, refused, lateItems } = process;
  const facts = [
    `${language}, ${sdk}${build === "" ? "" : `, build ${build}`}`,
    `${busy}/${slots} slots busy`,
    `silent ${formatDuration(Number(process.silentMs))}`,
    `round trip ${(Number(process.roundTripUs) / 1_000).toFixed(1)} ms`,
    `serves ${types.length === 0 ? "nothing" : types.join(" ")}`,
  ];
  const what = `process ${name}: ${facts.join("; ")}`;
  return [
    { level: "ok", what, ...stateOf(process) },
    ...refused.map(({ type, reason, message }): Finding => ({
      level: "error",
      what: `process ${name}: ${type} is not served: ${reason}`,
      next: message,
    })),
    ...ignoringFindings(process),
    ...(lateItems === 0n
      ? []
      : [
          {
            level: "warning" as const,
            what: `process ${name} sent ${lateItems} items after the end of their invocations`,
            next: "Its handlers ignore cancels or timeouts; watch the signal of the handler.",
          },
        ]),
  ];
}

/** Functions that run on after their cancel. A function that returns soon is no finding. */
function ignoringFindings({ name, ignoring, ignoringMs }: HandlerSession): Finding[] {
  if (ignoring === 0 || ignoringMs < IGNORED_MS) return [];
  const functions =
    ignoring === 1 ? "1 function ignores its" : `${ignoring} functions ignore their`;
  const since = formatDuration(Number(ignoringMs));
  return [
    {
      level: "warning",
      what: `process ${name}: ${functions} cancel, the first for ${since}`,
      next: "Each keeps a slot until it returns. Watch the signal of the handler, and replace the process.",
    },
  ];
}

function stateOf({ state }: HandlerSession): Partial<Finding> {
  const warning = (next: string): Partial<Finding> => ({ level: "warning", next });
  if (state === SessionState.STALLED)
    return warning("It is stalled and gets no work: look for code that blocks it.");
  if (state === SessionState.CUT)
    return warning("Its connection is cut: see its own output for the reason.");
  return state === SessionState.DRAINING ? warning("It leaves and gets no more work.") : {};
}

/** Saved workflows against the types that executors serve, and against the schemas of these types. */
async function catalogueFindings({ client, interrupted, self }: Session): Promise<Finding[]> {
  try {
    const known = await builtInTypes(client);
    for (const { nodeTypes } of await client.executors.list())
      for (const type of nodeTypes) known.add(type);
    const { workflows, isCut } = await savedWorkflows(client, interrupted);
    const findings = [
      ...servedFindings(workflows, known),
      ...workflows.flatMap((workflow) => misfitFindings(workflow, self)),
    ];
    const counted = `${workflows.length} workflow${workflows.length === 1 ? "" : "s"}`;
    const cut: Finding = {
      level: "warning",
      what: `only the first ${counted} were checked`,
      next: `Check others with ${self} workflow validate.`,
    };
    const what = `executors serve every node type of ${counted}, and the definitions fit the types`;
    const ok: Finding[] = findings.length === 0 ? [{ level: "ok", what }] : [];
    return [...ok, ...findings, ...(isCut ? [cut] : [])];
  } catch (thrown) {
    if (!(thrown instanceof PawlError)) throw thrown;
    const next = thrown.next ?? "Check --address.";
    return [{ level: "error", what: `the gateway does not answer: ${thrown.message}`, next }];
  }
}

/** Types that workflows use and that nothing serves. */
function servedFindings(
  workflows: readonly SavedWorkflow[],
  known: ReadonlySet<string>,
): Finding[] {
  const users = new Map<string, string[]>();
  for (const { workflowId, types } of workflows)
    for (const type of types)
      if (!known.has(type)) users.set(type, [...(users.get(type) ?? []), workflowId]);
  return [...users].map(([type, ids]) => ({
    level: "error",
    what: `no executor serves ${type}, which ${ids.join(", ")} use${ids.length === 1 ? "s" : ""}`,
    next: "Start the process that serves it, or correct the type.",
  }));
}

/** Rules about types that the definition breaks now. */
function misfitFindings({ workflowId, faults }: SavedWorkflow, self: string): Finding[] {
  const next = `The line counts in the output of ${self} workflow get ${workflowId}.`;
  const findings = (level: Finding["level"], list: SavedWorkflow["faults"]["violations"]) =>
    placedLines(workflowId, list).map((what): Finding => ({ level, what, next }));
  return [
    ...findings("error", faults.violations),
    ...findings(
      "warning",
      faults.warnings.filter(({ reason }) => reason === "TYPE_MISMATCH"),
    ),
  ];
}

/** Built-in types; an executor that is there serves them, or the scheduler does. */
async function builtInTypes(client: PawlClient): Promise<Set<string>> {
  const found = new Set<string>();
  for (let pageToken = ""; ;) {
    const page = await client.nodeTypes.list({ pageSize: PAGE_SIZE, pageToken });
    for (const { type, builtIn } of page.nodeTypes) if (builtIn) found.add(type);
    pageToken = page.nextPageToken;
    if (pageToken === "") return found;
  }
}
