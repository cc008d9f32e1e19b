// Test support: runs one handler on a config as an attempt would, and keeps what it streamed and logged.

import { scopeOf, type NodeContext } from "@pawl/core/data/scope";
import type { Media, Usage } from "@pawl/core/log/event";
import { isRecord } from "@pawl/core/data/path";
import { render } from "@pawl/core/data/template";
import type { EffectDoor } from "@pawl/core/handler/served";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";
import type { Handler, HandlerContext, HandlerResult } from "./handler.ts";

/** A config that the handler refused. */
interface Refusal {
  readonly refused: string;
}

interface Probe {
  readonly result: HandlerResult | Refusal;
  readonly deltas: readonly string[];
  readonly media: readonly Media[];
  readonly logs: readonly string[];
  readonly used: readonly Usage[];
}

/** Prepares and executes; a refused config comes back as `refused`. */
export async function probeHandler(
  handler: Handler,
  config: unknown,
  options: Partial<HandlerContext> = {},
  ledger: EffectDoor = memoryLedger(),
): Promise<Probe> {
  const deltas: string[] = [];
  const media: Media[] = [];
  const logs: string[] = [];
  const used: Usage[] = [];
  const context: NodeContext = options.context ?? { input: { name: "Ada" }, nodes: {}, vars: {} };
  const params = options.params ?? {};
  const scope = scopeOf(context, isRecord(params) ? params : {});
  const prepared = handler.prepare(config);
  if (!prepared.ok) return { result: { refused: prepared.message }, deltas, media, logs, used };
  const result = await prepared.execute({
    runId: "01890000-0000-7000-8000-000000000000",
    nodeId: "n",
    workflowId: "w",
    iteration: 0,
    attempt: 1,
    traceparent: "",
    effectKey: "01890000-0000-7000-8000-000000000000/n/0",
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    memory: context.memory ?? {},
    taint: [],
    stateJson: "",
    emit: async (text) => void deltas.push(text),
    emitMedia: async (one) => void media.push(one),
    log: (level, message) => void logs.push(`${level} ${message}`),
    usage: (usage) => void used.push(usage),
    effects: ledger,
    extend: async () => undefined,
    render: (value) => render(value, scope),
    ...options,
    context,
    input: params,
    params,
    scope,
  });
  return { result, deltas, media, logs, used };
}
