// The shapes of the stress with real work in them: each task of a stress peer is an effect on the outside world here.
import type { Json } from "@pawl/client";
import { broken, script, type GraphText, type NodeText } from "../flow/graph.ts";
import { TASK, type Shape } from "../stress/shape.ts";
import { WORK } from "./handler-process.ts";
import { SHAPES } from "../stress/shapes.ts";

const RETRY = { attempts: 6, backoff_ms: 100, max_backoff_ms: 1_000 };

type JsonObject = { readonly [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every shape, its tasks as calls of `effectUrl`; those that must fail are scripts that do. */
export const effectShapes = (effectUrl: string): readonly Shape[] =>
  SHAPES.map((shape) => ({
    ...shape,
    hasEffects: true,
    definition: worked(shape.definition, effectUrl),
    ...(shape.children === undefined
      ? {}
      : {
          children: Object.fromEntries(
            Object.entries(shape.children).map(([id, child]) => [
              renamed(id),
              worked(child, effectUrl),
            ]),
          ),
        }),
  }));

/** The children of the stress have tasks of its peers in them: these are others. */
const renamed = (workflowId: string): string => workflowId.replace("stress-", "effect-");

function worked<Definition extends GraphText>(definition: Definition, url: string): Definition {
  return { ...definition, nodes: definition.nodes.map((node) => workOf(node, url)) };
}

function workOf(node: JsonObject, url: string): JsonObject {
  const { type, config, compensation } = node;
  if (type === TASK && isObject(config) && config["jump"] !== undefined)
    return { ...node, type: WORK, retry: RETRY };
  if (type === "agent" && isObject(config) && Array.isArray(config["tools"]))
    return { ...node, config: { ...config, tools: config["tools"].map(toolOf) } };
  if (type === TASK)
    return {
      ...{ ...node, ...plain(taskOf(config, url)) },
      ...(compensation === undefined ? {} : { compensation: plain(effect(url)) }),
    };
  if (isObject(config) && typeof config["workflow_id"] === "string")
    return { ...node, config: { ...config, workflow_id: renamed(config["workflow_id"]) } };
  const body = isObject(config) ? config["body"] : undefined;
  if (!isObject(config) || !isObject(body) || body["type"] !== TASK) return node;
  return { ...node, config: { ...config, body: plain(taskOf(body["config"], url)) } };
}

function taskOf(config: Json | undefined, url: string): NodeText {
  if (isObject(config) && config["fail"] === true) return broken();
  if (isObject(config) && config["fail_item"] !== undefined)
    return script(
      `if (ctx.item === ${JSON.stringify(config["fail_item"])}) throw new Error("asked for"); return ctx.item`,
    );
  return effect(url);
}

/** A tool of an agent: a task is work of a handler process. */
function toolOf(tool: Json): Json {
  if (!isObject(tool)) return tool;
  const { type, workflow } = tool;
  if (typeof workflow === "string") return { ...tool, workflow: renamed(workflow) };
  return type === TASK ? { ...tool, type: WORK, retry: RETRY } : tool;
}

/** A call with so many retries that it succeeds after every fault. */
const effect = (url: string): NodeText => ({
  type: "http",
  config: { url, method: "POST" },
  retry: RETRY,
});

const plain = (node: NodeText): JsonObject =>
  Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
