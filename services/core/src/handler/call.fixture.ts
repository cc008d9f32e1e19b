// Test support: an invocation with an effect ledger in memory.

import type { Usage } from "../log/event.ts";
import type { EffectClass, EffectStanding } from "../policy/effect.ts";
import type { Call } from "./served.ts";

/** A call in which every effect has `standing`. */
export function callOf(inputJson = "null", configJson = "", standing?: EffectStanding) {
  const begun: { readonly name: string; readonly class: EffectClass }[] = [];
  const committed = new Map<string, unknown>();
  const logs: string[] = [];
  const used: Usage[] = [];
  return {
    runId: "01890000-0000-7000-8000-000000000000",
    nodeId: "n",
    workflowId: "w",
    iteration: 0,
    attempt: 1,
    effectKey: "01890000-0000-7000-8000-000000000000/n/0",
    traceparent: "",
    timeoutMs: 60_000,
    memory: {},
    taint: [],
    signal: new AbortController().signal,
    emit: async () => undefined,
    emitMedia: async () => undefined,
    log: (level, message) => void logs.push(`${level} ${message}`),
    usage: (each) => void used.push(each),
    effects: {
      begin: async (name, effectClass) => {
        begun.push({ name, class: effectClass });
        return standing ?? { state: "new" };
      },
      commit: async (name, json) => void committed.set(name, JSON.parse(json)),
    },
    inputJson,
    configJson,
    begun,
    committed,
    logs,
    used,
  } satisfies Call & Record<string, unknown>;
}
