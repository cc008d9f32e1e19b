// Random outcomes with actions, as executors send them, and an oracle of the memory. The oracle has no log and no fold.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ActionSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

export type Sent = NonNullable<MessageInitShape<typeof ActionSchema>["action"]>;
export type Random = () => number;

/** The same numbers for the same seed. */
export function seeded(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4_294_967_296;
  };
}

export const pick = <T>(random: Random, all: readonly T[]): T => {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error("nothing to pick from");
  return one;
};

const KEYS = ["a", "b", "list"];

/** Actions that no handler may send, or that cannot be done in any run of the test. */
const IMPOSSIBLE: readonly Sent[] = [
  { case: "unknown", value: "fly" },
  { case: "unknown", value: "_budget_exceeded" },
  { case: undefined },
  { case: "gotoNode", value: { node: "ghost" } },
  { case: "handoff", value: { node: "ghost" } },
  { case: "setStatus", value: { status: "running" } },
  { case: "setStatus", value: { status: "timeout" } },
  { case: "updateMemory", value: { valuesJson: '{"__proto__":1}' } },
  { case: "resumeFromHuman", value: { node: "ghost", decision: "approve" } },
  {
    case: "mergeParallelResults",
    value: { nodes: ["ghost"], into: "a", strategy: "array" },
  },
];

/** At most one of these decides what follows the node. */
function leading(random: Random, nodes: readonly string[]): Sent[] {
  const node = pick(random, nodes);
  const at = random();
  if (at < 0.5) return [];
  if (at < 0.6) return [{ case: "gotoNode", value: { node, reason: "again" } }];
  if (at < 0.65) return [{ case: "handoff", value: { node } }];
  if (at < 0.75) return [{ case: "handoff", value: { workflow: pick(random, ["child", "gone"]) } }];
  if (at < 0.88) return [{ case: "requestHumanInput", value: { message: "Ship it?" } }];
  const status = pick(random, ["paused", "paused", "completed", "failed", "cancelled"]);
  return [{ case: "setStatus", value: { status, message: "by itself" } }];
}

let counter = 0;

/** Random actions of one outcome. `isImpossible`: one of them can never be done. */
export function drawActions(random: Random, nodes: readonly string[]) {
  const actions = leading(random, nodes);
  const first = actions[0]?.case;
  for (let count = Math.floor(random() * 3); count > 0; count -= 1) {
    const value = JSON.stringify({ [pick(random, KEYS)]: (counter += 1) });
    actions.push({ case: "updateMemory", value: { valuesJson: value } });
  }
  if (random() < 0.25) {
    const strategy = pick(random, ["array", "json_object"]);
    const keys = random() < 0.5 ? KEYS : ["b", "a"];
    const into = pick(random, ["merged", "list"]);
    actions.push({ case: "mergeParallelResults", value: { keys, into, strategy } });
  }
  const mayAnswer = first === undefined || first === "gotoNode";
  if (mayAnswer && random() < 0.2) {
    const answer = { node: pick(random, nodes), decision: pick(random, ["approve", "reject"]) };
    actions.push({ case: "resumeFromHuman", value: answer });
  }
  const isImpossible = random() < 0.12;
  if (isImpossible) actions.push(pick(random, IMPOSSIBLE));
  return { actions, isImpossible };
}

type Memory = Map<string, unknown>;

/** The memory after the actions of one outcome, in their order. The workflow merges the key `list` as an array. */
export function remember(memory: Memory, actions: readonly Sent[]): void {
  const writes = new Map<string, { readonly value: unknown; readonly isReplaced: boolean }>();
  const valueOf = (key: string): unknown => {
    const own = writes.get(key);
    if (own === undefined) return memory.get(key);
    return key === "list" && !own.isReplaced ? [...listOf(memory), own.value] : own.value;
  };
  for (const { case: kind, value } of actions) {
    if (kind === "updateMemory")
      for (const [key, own] of Object.entries(parsed(value.valuesJson)))
        writes.set(key, { value: own, isReplaced: false });
    if (kind !== "mergeParallelResults") continue;
    const known = (value.keys ?? []).filter((key) => valueOf(key) !== undefined);
    const merged =
      value.strategy === "array"
        ? known.map(valueOf)
        : Object.fromEntries(known.map((key) => [key, valueOf(key)]));
    writes.set(value.into ?? "", { value: merged, isReplaced: true });
  }
  const after = [...writes.keys()].map((key) => [key, valueOf(key)] as const);
  for (const [key, value] of after) memory.set(key, value);
}

const parsed = (json: string | undefined) => JSON.parse(json ?? "{}") as Record<string, unknown>;

/** A merge may have put another value there: it becomes the first item. */
const listOf = (memory: Memory): readonly unknown[] => {
  const list = memory.get("list");
  if (list === undefined) return [];
  return Array.isArray(list) ? list : [list];
};
