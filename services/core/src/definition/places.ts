// Positions in the text of a definition: a path such as nodes[3].config becomes the line and column that its author sees. They are computed
// only for texts with violations or warnings.

import { isMap, isNode, isScalar, isSeq } from "yaml";
import type { Position } from "./shape.ts";
import { violationPath } from "./violation.ts";

/** Paths and the characters where they begin. A property begins at its key, an item at its value. */
export type Places = ReadonlyMap<string, number>;

type Scalar = string | number | bigint | boolean | null;

const TOKEN = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/gs;

interface Frame {
  readonly path: string;
  /** Index of the current item. Undefined in an object. */
  index: number | undefined;
  /** Whether an object's key comes next. */
  isAtKey: boolean;
}

/** Positions in JSON text, in order. The text is valid JSON up to `end`. */
export function jsonPlaces(text: string, end = text.length): Places {
  const places = new Map<string, number>();
  const stack: Frame[] = [];
  let path = "";
  for (const { 0: token, index: offset } of text.matchAll(TOKEN)) {
    if (offset > end) break;
    const frame = stack.at(-1);
    if (token === "}" || token === "]") stack.pop();
    else if (token === ",") advance(frame);
    else if (frame?.isAtKey === true) {
      path = violationPath([keyOf(token)], frame.path);
      frame.isAtKey = false;
      places.set(path, offset);
    } else if (token !== ":") {
      if (frame?.index !== undefined) path = `${frame.path}[${frame.index}]`;
      if (!places.has(path)) places.set(path, offset);
      if (token === "{") stack.push({ path, index: undefined, isAtKey: true });
      else if (token === "[") stack.push({ path, index: 0, isAtKey: false });
    }
  }
  return places;
}

function advance(frame: Frame | undefined): void {
  if (frame === undefined) return;
  if (frame.index === undefined) frame.isAtKey = true;
  else frame.index += 1;
}

function keyOf(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** Positions below a node of a YAML document whose depth was checked. */
export function yamlPlaces(root: unknown): Places {
  const places = new Map<string, number>();
  const visit = (node: unknown, path: string): void => {
    if (isSeq(node))
      node.items.forEach((item, index) => {
        const at = `${path}[${index}]`;
        places.set(at, startOf(item) ?? startOf(node) ?? 0);
        visit(item, at);
      });
    else if (isMap(node))
      for (const { key, value } of node.items) {
        const at = violationPath([isScalar<Scalar>(key) ? String(key.value ?? "") : ""], path);
        places.set(at, startOf(key) ?? startOf(value) ?? startOf(node) ?? 0);
        visit(value, at);
      }
  };
  places.set("", startOf(root) ?? 0);
  visit(root, "");
  return places;
}

/** The position of a node of a YAML document. */
export const startOf = (node: unknown): number | undefined =>
  isNode(node) ? (node.range?.[0] ?? undefined) : undefined;

/** The position of `path`, or of the nearest path around it that is in the text. */
export function offsetOf(places: Places, path: string): number | undefined {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("."), at.lastIndexOf("[")))) {
    const offset = places.get(at);
    if (offset !== undefined || at === "") return offset;
  }
}

/** The last path that begins at or before a character. */
export const pathAt = (places: Places, offset: number): string =>
  [...places].reduce((last, [path, at]) => (at <= offset ? path : last), "");

/** Converts a character of `text` to its position. */
export function positions(text: string): (offset: number) => Position {
  const starts = [
    0,
    ...Array.from(text.matchAll(/\r\n|\n|\r/g), (end) => end.index + end[0].length),
  ];
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const start = starts[line] ?? 0;
    return { line: line + 1, column: Array.from(text.slice(start, offset)).length + 1 };
  };
}

/** The line of a character, without the spaces around it. */
export const lineAt = (text: string, offset: number): string => {
  const before = text.slice(0, offset).search(/[^\r\n]*$/);
  return (/[^\r\n]*/.exec(text.slice(before))?.[0] ?? "").trim();
};
