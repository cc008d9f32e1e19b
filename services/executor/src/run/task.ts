// A node from an assignment. It is parsed once per text and cached, because every run of a workflow has the same nodes. A config without
// templates is also checked once, so an attempt does not check the schema again.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import type { Binding } from "@pawl/core/data/inputs";
import type { MergeStrategy } from "@pawl/core/data/merge";
import { templatesOf } from "@pawl/core/data/template";
import { compileUntil, type Until } from "@pawl/core/glue/until";
import type { JsonSchema, NodeContracts } from "@pawl/core/definition/shape";
import type { Cause } from "@pawl/core/fault/cause";
import type { Moderation, ModerationAction } from "@pawl/core/policy/moderation";
import type { ParentFailurePolicy } from "@pawl/core/data/parent-failure";
import type { Handler, Prepared } from "../handlers/handler.ts";
import type { Registry } from "../handlers/registry.ts";
import { compileContract, type Contract, type Phase } from "@pawl/platform/contract/contract";

const NODES_MAX = 2_000;

/** The parts of a node that an attempt needs. The scheduler wrote them, so the executor trusts their shape. */
interface TaskNode {
  readonly id: string;
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The input of the handler, with templates; absent if the author wrote none. */
  readonly input?: unknown;
  readonly onParentFailure: ParentFailurePolicy;
  readonly merge: MergeStrategy | null;
  readonly contracts?: NodeContracts;
  readonly moderation?: Moderation;
  readonly moderationAction?: ModerationAction;
}

export type Task =
  | {
      readonly ok: true;
      readonly node: TaskNode;
      readonly bindings: readonly Binding[];
      readonly handler: Handler;
      /** The part of the config with templates. Empty if it needs no rendering. */
      readonly templates: Readonly<Record<string, unknown>>;
      /** The handler bound to a config without templates. */
      readonly prepared: Prepared | undefined;
      /** The contracts, compiled once per text. Undefined if the node has none. */
      readonly contracts: Readonly<Record<Phase, Contract | undefined>>;
      /** The condition that ends the loop of this iteration. */
      readonly until: Until | undefined;
    }
  | { readonly ok: false; readonly cause: Cause; readonly message: string };

/** Reads nodes and caches the last two thousand texts. */
export function taskReader(registry: Registry): (nodeJson: string) => Task {
  const tasks = new BoundedMap<string, Task>(NODES_MAX);
  const read = (text: string): Task => readTask(text, registry);
  return (text) => tasks.ensure(text, read);
}

function readTask(text: string, registry: Registry): Task {
  let parsed: { node: TaskNode; bindings?: readonly Binding[]; until?: string };
  try {
    // The scheduler made the text from a checked definition, so only its JSON syntax is checked here.
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return { ok: false, cause: "config_invalid", message: "the node is not JSON" };
  }
  const { node, bindings = [] } = parsed;
  const handler = registry.get(node.type);
  if (handler === undefined) {
    const message = `this executor serves no node of type ${node.type}`;
    return { ok: false, cause: "unknown_node_type", message };
  }
  const templates = templatesOf(node.config ?? {}, handler.unrendered);
  const isPlain = Object.keys(templates).length === 0;
  const prepared = isPlain ? handler.prepare(node.config ?? {}) : undefined;
  const until = parsed.until === undefined ? undefined : compileUntil(parsed.until);
  const contracts = compiledContracts(node.contracts);
  if (contracts === undefined) {
    // Only a definition that an older release accepted reaches this line.
    return { ok: false, cause: "config_invalid", message: "a contract does not compile" };
  }
  return { ok: true, node, bindings, handler, templates, prepared, contracts, until };
}

function compiledContracts(contracts: NodeContracts | undefined) {
  const compiled = (schema: JsonSchema | null | undefined, phase: Phase): Contract | undefined =>
    schema === null || schema === undefined ? undefined : compileContract(schema, phase);
  try {
    const input = compiled(contracts?.input, "input");
    return { input, output: compiled(contracts?.output, "output") };
  } catch {
    return undefined;
  }
}
