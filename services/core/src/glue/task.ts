// One glue execution: resolve inputs, fill in templates, check the config, complete, encode. The scheduler runs these steps inside a
// tick. An executor runs the same steps around any handler.

import { encodeJson } from "../data/encode-json.ts";
import { resolveInputs, type Binding } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import { type NodeContext, scopeOf, type Scope } from "../data/scope.ts";
import { render, renderFailure, templatesOf } from "../data/template.ts";
import type { GlueType } from "../definition/node-types.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import { issueText } from "../definition/zod-issue.ts";
import { type AskedSignal, GLUE, type Glue, type GlueFailure, type GlueResult } from "./glue.ts";
import { compileUntil, judgeUntil, type Until } from "./until.ts";

/** A glue execution, prepared once for each definition. */
export interface GlueTask {
  /** Whether its result depends on its context. */
  readonly readsContext: boolean;
  /** How often the evaluation may walk over its data: once, and more often if conditions loop or a pattern is matched. */
  readonly passes: number;
  /** Completes the execution. It requests the context as JSON text only if it reads the context. */
  readonly complete: (contextJson: () => string) => GlueOutcome;
}

/** How a glue execution ends. The texts are JSON. */
type GlueOutcome =
  | {
      readonly kind: "completed";
      readonly outputJson: string;
      readonly handle?: string;
      readonly queueDelayMs?: number;
      /** Whether this iteration ends its loop. */
      readonly stop?: boolean;
    }
  | Expanded
  | ({ readonly kind: "awaiting" } & AskedSignal)
  | ({ readonly kind: "failed"; readonly detailsJson?: string } & GlueFailure);

/** A map or a loop has found its items. */
export interface Expanded {
  readonly kind: "expanded";
  /** The items as a JSON array. */
  readonly itemsJson: string;
  readonly width: number;
  /** There are more items than may run, so the node fails after the last one. */
  readonly cut: boolean;
}

/** The part of a node that a glue execution reads. */
interface GlueNode extends Pick<NodeDefinition, "config" | "merge" | "onParentFailure"> {
  readonly type: GlueType;
  readonly bindings: readonly Binding[];
  /** The condition that ends the loop of which this is an iteration. */
  readonly until: string | null;
}

/** Prepares a glue execution. */
export function glueTask(node: GlueNode): GlueTask {
  // The schema of a row checks the config before the row gets it, so the pair always fits.
  const glue = GLUE[node.type] as Glue<unknown>;
  const templates = templatesOf(node.config, glue.unrendered);
  const isPlain = Object.keys(templates).length === 0;
  const fixed = isPlain ? glue.config.safeParse(node.config) : undefined;
  const until = node.until === null ? undefined : compileUntil(node.until);
  const loops = typeof until === "object" ? until.passes : 0;
  const isValid = fixed?.success !== false;
  const passes = 1 + loops + (isValid ? (glue.passes?.(fixed?.data ?? node.config) ?? 0) : 0);
  const bindsInput = node.bindings.some(({ targetParamLabel }) => targetParamLabel !== null);
  const readsContext = glue.reads || !isPlain || until !== undefined || bindsInput;
  const complete = (contextJson: () => string): GlueOutcome => {
    const read = readsContext ? readContext(node, contextJson()) : NO_CONTEXT;
    if ("kind" in read) return read;
    let parsed = fixed;
    if (parsed === undefined) {
      const substituteDefault = node.onParentFailure === "substitute_default";
      // Rendered texts become part of the output, so the limit of the output applies to them.
      const options = { substituteDefault, outputBytes: LIMITS.valueBytes };
      const rendered = render(templates, read.scope, options);
      if (!rendered.ok) {
        const { details, ...why } = renderFailure(rendered);
        return { ...failure(why), detailsJson: JSON.stringify(details) };
      }
      parsed = glue.config.safeParse(Object.assign({}, node.config, rendered.value));
    }
    if (!parsed.success)
      return failure({ cause: "config_invalid", message: issueText(parsed.error) });
    const outcome = encoded(glue.complete(parsed.data, read));
    return until === undefined ? outcome : judged(until, read.scope, outcome);
  };
  return { readsContext, passes, complete };
}

const NO_CONTEXT = readOf({ input: null, nodes: {}, vars: {} }, {});

function readOf(context: NodeContext, input: Readonly<Record<string, unknown>>) {
  return { context, input, scope: scopeOf(context, input) };
}

function readContext({ bindings, merge, onParentFailure }: GlueNode, contextJson: string) {
  // The scheduler made the text from JSON texts of the log, so it parses and has this shape.
  const context = JSON.parse(contextJson) as NodeContext;
  const inputs = resolveInputs(bindings, context, merge, onParentFailure);
  if (inputs.ok) return readOf(context, inputs.params);
  return failure({ cause: inputs.reason, message: inputs.message });
}

function encoded(result: GlueResult): GlueOutcome {
  if ("failed" in result) return { kind: "failed", ...result.failed };
  if ("expand" in result) {
    const { items, cut = false } = result.expand;
    const json = encodeJson(items, "list of items");
    if (!json.ok) return failure(json);
    return { kind: "expanded", itemsJson: json.text, width: items.length, cut };
  }
  if ("wait" in result) return { kind: "awaiting", ...result.wait };
  const { output, ...rest } = result;
  const json = encodeJson(output, "output");
  if (!json.ok) return failure(json);
  return { kind: "completed", outputJson: json.text, ...rest };
}

/** The outcome of an iteration, with the result of the condition that may end its loop. */
function judged(until: Until, scope: Scope, outcome: GlueOutcome): GlueOutcome {
  if (outcome.kind !== "completed") return outcome;
  const verdict = judgeUntil(until, scope, JSON.parse(outcome.outputJson));
  return verdict.ok ? { ...outcome, stop: verdict.stop } : failure(verdict);
}

const failure = ({ cause, message }: Omit<GlueFailure, "permanent">) =>
  ({ kind: "failed", cause, message, permanent: true }) as const;
