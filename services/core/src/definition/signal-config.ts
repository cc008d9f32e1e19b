// The config of `await_signal`, and the parts of a definition that say which signals its runs wait for.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import { isReservedName } from "../data/path.ts";
import { isName } from "../name/ids.ts";
import type { Graph } from "./graph.ts";
import { wholeMs } from "./schema.ts";
import { isTemplate } from "./scope-types.ts";
import type { JsonSchema } from "./shape.ts";
import { rule } from "./zod-issue.ts";

export const AWAIT_SIGNAL = "await_signal";

/** For people. */
export const SIGNAL_NAME_RULE =
  "1-128 characters of [A-Za-z0-9._-], not starting with . or _, and no name that every JavaScript object has";

/** Whether a signal may have this name. */
export const isSignalName = (name: string): boolean => isName(name) && !isReservedName(name);

const isBadName = rule("BAD_ID", `must be ${SIGNAL_NAME_RULE}`);

const rest = {
  /** Counted from the event that opens the wait. Without a limit if absent. */
  timeout_ms: wholeMs(LIMITS.signalTimeoutMsMax).optional(),
  /** The rules of contracts apply to it. */
  schema: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
};

/** The config as authors write it. */
export const signalConfig = z.strictObject({
  name: z.string().refine((name) => isTemplate(name) || isSignalName(name), isBadName),
  ...rest,
});

/** The config with its templates filled in. */
export const filledSignalConfig = z.strictObject({
  name: z.string().refine(isSignalName, isBadName),
  ...rest,
});

interface Awaiting {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The schema of the payload that an execution takes. Undefined if it takes any. */
export const payloadSchemaOf = ({ type, config }: Awaiting): JsonSchema | undefined =>
  // The parser checked the schema.
  type === AWAIT_SIGNAL ? (config["schema"] as JsonSchema | undefined) : undefined;

/** The signals that runs of a definition may wait for. */
interface AwaitedSignals {
  /** For each name that the definition spells out: the schemas of its nodes. Undefined for a node that takes any payload. */
  readonly named: ReadonlyMap<string, readonly (JsonSchema | undefined)[]>;
  /** Whether a template gives a name. Then a run may wait for any name. */
  readonly hasTemplates: boolean;
}

const known = new WeakMap<Graph, AwaitedSignals>();

/** The signals that runs of this graph may wait for. It reads the graph once. */
export function awaitedSignals(graph: Graph): AwaitedSignals {
  let found = known.get(graph);
  if (found === undefined) known.set(graph, (found = findAwaited(graph)));
  return found;
}

function findAwaited({ nodes }: Graph): AwaitedSignals {
  const named = new Map<string, (JsonSchema | undefined)[]>();
  let hasTemplates = false;
  for (const { definition } of nodes) {
    const own: Awaiting = definition.scope?.body ?? definition;
    const { name } = own.config;
    if (own.type !== AWAIT_SIGNAL || typeof name !== "string") continue;
    if (isTemplate(name)) hasTemplates = true;
    else named.set(name, [...(named.get(name) ?? []), payloadSchemaOf(own)]);
  }
  return { named, hasTemplates };
}
