// Rules of the run's memory: a node reads no key that its own read_keys leave out, and reads keys that some node writes. A handler of a
// user may write any key, so a key that no node names is a warning and never a violation.

import { isRecord } from "../data/path.ts";
import { nearestName } from "../name/nearest.ts";
import { isBuiltIn } from "./node-types.ts";
import { records } from "./graph-rules.ts";
import { templatePaths } from "./template-paths.ts";
import { excerpt, type Report } from "./violation.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Names in `ctx` that saved definitions may use for their variables, because they are newer. */
const NEWER_NAMES: ReadonlySet<unknown> = new Set([
  ...["memory", "goal", "constraints", "metadata", "config"],
]);

/** Reports templates that read a key that the node does not get, and an output variable with a name that `ctx` has. */
export function checkMemory(raw: unknown, report: Report): void {
  records(raw, "nodes").forEach((node, index) => {
    const path = `nodes[${index}]`;
    if (NEWER_NAMES.has(node["output_variable"]))
      report(
        `${path}.output_variable`,
        "RESERVED_KEY",
        "is already a name in ctx; choose another",
        idOf(node),
      );
    const keys = readKeys(node);
    if (keys === undefined) return;
    for (const { at, key } of memoryPaths(node, path)) {
      if (keys.includes(key)) continue;
      const message = `ctx.memory.${excerpt(key)} is not among the read_keys of the node; add it there`;
      report(at, "MEMORY_KEY_NOT_READ", message, idOf(node));
    }
  });
}

/** Warns of keys that are read and that no node writes. */
export function warnOfMemory(raw: unknown, report: Report): void {
  const nodes = records(raw, "nodes");
  const declared = isRecord(raw) && isRecord(raw["memory"]) ? Object.keys(raw["memory"]) : [];
  const written = new Set([...declared, ...nodes.flatMap(writtenKeys)]);
  const mayWriteAny = nodes.some(writesAnyKey);
  const check = (at: string, key: string, node: Raw): void => {
    if (written.has(key)) return;
    const meant = nearestName(key, written);
    // A handler of a user may write it, unless it looks like a typing error.
    if (mayWriteAny && meant === undefined) return;
    const hint = meant === undefined ? "give a node this write_key" : `did you mean ${meant}?`;
    report(at, "UNKNOWN_MEMORY_KEY", `no node writes the key ${excerpt(key)}; ${hint}`, idOf(node));
  };
  nodes.forEach((node, index) => {
    const path = `nodes[${index}]`;
    const keys = readKeys(node) ?? [];
    keys.forEach((key, at) => check(`${path}.read_keys[${at}]`, key, node));
    for (const { at, key } of memoryPaths(node, path))
      if (!keys.includes(key)) check(at, key, node);
  });
}

const idOf = ({ id }: Raw): string => (typeof id === "string" ? id : "");

function readKeys({ read_keys: keys }: Raw): readonly string[] | undefined {
  if (!Array.isArray(keys)) return undefined;
  return keys.filter((key: unknown): key is string => typeof key === "string");
}

/** The keys of the memory that the templates of a node name. */
function memoryPaths(node: Raw, path: string) {
  return templatePaths(node, path).flatMap(({ at, named: [root, part, key] }) =>
    root === "ctx" && part === "memory" && key !== undefined ? [{ at, key: String(key) }] : [],
  );
}

function writtenKeys({ type, config, write_key: key }: Raw): string[] {
  const own = typeof key === "string" ? [key] : [];
  const values = type === "remember" && isRecord(config) ? config["values"] : undefined;
  return isRecord(values) ? [...own, ...Object.keys(values)] : own;
}

const WRITERS: ReadonlySet<string> = new Set(["javascript", "agent"]);

/** A handler of a user, a script, or a tool of an agent may write any key. */
function writesAnyKey({ type, config }: Raw): boolean {
  const body = isRecord(config) && isRecord(config["body"]) ? config["body"]["type"] : undefined;
  return [type, body].some(
    (one) => typeof one === "string" && (!isBuiltIn(one) || WRITERS.has(one)),
  );
}
