// pawl handler doctor: is the handler port there, what do the processes behind it serve, and does a saved workflow use a type that no
// executor serves? One line for each finding. It only reads.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { jsonOf, PawlError, type PawlClient } from "@pawl/client";
import {
  HandlerService,
  type Session as HandlerSession,
  SessionState,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { wrapText } from "../render/spans.ts";
import { formatDuration } from "../render/words.ts";
import { canvasOf, EXIT, type ExitCode, print, type Session } from "../session.ts";

export interface DoctorFlags {
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
const PAGE_SIZE = 200;
/** Workflows whose definitions are read. */
const WORKFLOWS_MAX = 400;

/** Prints every finding; the exit code is 1 if one is an error. */
export async function doctor(session: Session, flags: DoctorFlags): Promise<ExitCode> {
  const findings = [...(await hostFindings(flags)), ...(await catalogueFindings(session.client))];
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

/** The handler port and the sessions behind it. */
async function hostFindings({ handlerAddress, token }: DoctorFlags): Promise<Finding[]> {
  const baseUrl = `http://${handlerAddress}`;
  if (!URL.canParse(baseUrl)) {
    const next = "Write host:port, such as 127.0.0.1:7404.";
    return [{ level: "error", what: `${handlerAddress} is not an address`, next }];
  }
  const host = createClient(HandlerService, createGrpcTransport({ baseUrl }));
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    const { sessions } = await host.listSessions({}, { headers, timeoutMs: TIMEOUT_MS });
    const what = `the handler port answers at ${handlerAddress}`;
    if (sessions.length > 0) return [{ level: "ok", what }, ...sessions.flatMap(sessionFindings)];
    const next = `Start one with PAWL_HANDLER_ADDRESS=${handlerAddress}.`;
    return [
      { level: "ok", what },
      { level: "warning", what: "no handler process is connected", next },
    ];
  } catch (thrown) {
    return [portFault(handlerAddress, ConnectError.from(thrown))];
  }
}

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

function stateOf({ state }: HandlerSession): Partial<Finding> {
  const warning = (next: string): Partial<Finding> => ({ level: "warning", next });
  if (state === SessionState.STALLED)
    return warning("It is stalled and gets no work: look for code that blocks it.");
  if (state === SessionState.CUT)
    return warning("Its connection is cut: see its own output for the reason.");
  return state === SessionState.DRAINING ? warning("It leaves and gets no more work.") : {};
}

/** Types that saved workflows use, and executors that serve them. */
async function catalogueFindings(client: PawlClient): Promise<Finding[]> {
  try {
    const served = new Set<string>();
    for (const { nodeTypes } of await client.executors.list())
      for (const type of nodeTypes) served.add(type);
    const own = await builtInTypes(client);
    const { used, count, isCut } = await usedTypes(client);
    const missing = [...used].filter(([type]) => !served.has(type) && !own.has(type));
    const findings = missing.map(([type, workflows]): Finding => ({
      level: "error",
      what: `no executor serves ${type}, which ${workflows.join(", ")} uses`,
      next: "Start the process that serves it, or correct the type.",
    }));
    if (isCut) {
      const what = `only the first ${count} workflows were checked`;
      findings.push({ level: "warning", what, next: "Check others with pawl workflow get." });
    }
    const ok = `executors serve every node type of ${count} workflows`;
    return missing.length === 0 ? [{ level: "ok", what: ok }, ...findings] : findings;
  } catch (thrown) {
    if (!(thrown instanceof PawlError)) throw thrown;
    const next = thrown.next ?? "Check --address.";
    return [{ level: "error", what: `the gateway does not answer: ${thrown.message}`, next }];
  }
}

/** Built-in types; an executor that is there serves them, or the scheduler does. */
async function builtInTypes(client: PawlClient): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let pageToken = ""; ;) {
    const page = await client.nodeTypes.list({ pageSize: PAGE_SIZE, pageToken });
    for (const { type, builtIn } of page.nodeTypes) if (builtIn) found.add(type);
    pageToken = page.nextPageToken;
    if (pageToken === "") return found;
  }
}

/** The node types of saved workflows, each with the workflows that use it. */
async function usedTypes(client: PawlClient) {
  const used = new Map<string, string[]>();
  let count = 0;
  for (let pageToken = ""; ;) {
    const page = await client.workflows.list({ pageSize: PAGE_SIZE, pageToken });
    for (const { workflowId } of page.workflows) {
      const { definitionJson } = await client.workflows.get(workflowId);
      for (const type of typesIn(jsonOf(definitionJson)))
        used.set(type, [...(used.get(type) ?? []), workflowId]);
    }
    count += page.workflows.length;
    pageToken = page.nextPageToken;
    if (pageToken === "" || count >= WORKFLOWS_MAX) return { used, count, isCut: pageToken !== "" };
  }
}

/** The types of the nodes of a definition, and of the bodies of its maps and loops. */
function typesIn(definition: unknown): ReadonlySet<string> {
  const types = new Set<string>();
  const add = (node: unknown): void => {
    if (!isObject(node)) return;
    if (typeof node["type"] === "string") types.add(node["type"]);
    const { config } = node;
    if (isObject(config)) add(config["body"]);
  };
  const nodes = isObject(definition) ? definition["nodes"] : undefined;
  if (Array.isArray(nodes)) for (const node of nodes) add(node);
  return types;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
