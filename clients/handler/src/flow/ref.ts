// References to values of a run: typed as the value, written as a template. `input.who` becomes "{{ctx.input.who}}".

declare const VALUE: unique symbol;
const PATH = Symbol("path");
const TEMPLATE = Symbol("template");

/** A value that will be there when the node runs. Its properties are references too. */
export type Ref<T> = unknown extends T
  ? AnyRef
  : { readonly [VALUE]: T } & (T extends readonly (infer Item)[]
      ? { readonly [index: number]: Ref<Item> }
      : T extends object
        ? { readonly [Key in keyof T]-?: Ref<T[Key]> }
        : unknown);

/** A value of unknown type: it fits everywhere, and has every property. */
export interface AnyRef {
  readonly [VALUE]: never;
  readonly [key: string]: AnyRef;
}

/** A value of type T, or references in its place or inside of it. */
export type Argument<T> = unknown extends T
  ? unknown
  :
      | T
      | Ref<T>
      | AnyRef
      | (T extends readonly (infer Item)[]
          ? readonly Argument<Item>[]
          : T extends object
            ? { readonly [Key in keyof T]: Argument<T[Key]> }
            : never);

/** A text with references in it, as a template. */
export interface Template {
  readonly [TEMPLATE]: string;
  /** The nodes that it reads. */
  readonly nodes: readonly string[];
}

interface Path {
  readonly path: string;
  readonly node: string | undefined;
}

const NAME = /^[A-Za-z0-9_-]+$/;

/** A reference to a path; `node` is the node that it reads. */
export const refTo = <T>(path: string, node?: string): Ref<T> =>
  // The proxy answers every property with a reference; the type says which properties the value has.
  new Proxy(
    { [PATH]: { path, node } },
    { get: (target, key) => step(target[PATH], key) },
  ) as unknown as Ref<T>;

function step(from: Path, key: string | symbol): unknown {
  if (key === PATH) return from;
  if (typeof key === "symbol") return undefined;
  return refTo(joined(from.path, key), from.node);
}

/** A path and one more key. */
export function joined(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (NAME.test(key)) return `${path}.${key}`;
  if (/["\\\]]/.test(key)) throw new TypeError(`a template cannot name the key ${key}`);
  return `${path}["${key}"]`;
}

const pathOf = (value: unknown): Path | undefined =>
  typeof value === "object" && value !== null && PATH in value ? (value[PATH] as Path) : undefined;

/** A text with references: text`Dear ${input.name}`. */
export function text(parts: TemplateStringsArray, ...values: readonly unknown[]): Ref<string> {
  return templateOf(parts, values, { literal: escaped, path: (path) => `{{${path}}}` });
}

/** A condition in CEL with references: expression`${input.cents} > 100`. Other values are written as JSON. */
export function expression(
  parts: TemplateStringsArray,
  ...values: readonly unknown[]
): Ref<string> {
  return templateOf(parts, values, { literal: (part) => part, path: (path) => path });
}

/** A template as it is written in YAML, such as "{{item.name}}" in the body of a map. */
export const template = <T = unknown>(yaml: string): Ref<T> => asRef<T>(yaml, []);

function templateOf(
  parts: TemplateStringsArray,
  values: readonly unknown[],
  write: { readonly literal: (part: string) => string; readonly path: (path: string) => string },
): Ref<string> {
  const nodes: string[] = [];
  const pieces = parts.map((part, at) => {
    if (at >= values.length) return write.literal(part);
    const path = pathOf(values[at]);
    if (path?.node !== undefined) nodes.push(path.node);
    const value = path === undefined ? JSON.stringify(values[at]) : write.path(path.path);
    return write.literal(part) + value;
  });
  return asRef(pieces.join(""), nodes);
}

// The compiler sees a reference; only `writtenValue` looks inside.
const asRef = <T>(made: string, nodes: readonly string[]): Ref<T> =>
  ({ [TEMPLATE]: made, nodes }) as unknown as Ref<T>;

/** Braces of a plain text are no template. */
const escaped = (plain: string): string => plain.replaceAll("{{", "\\{{");

/** A value as it stands in a definition. `nodes` gets the nodes that it reads. */
export function writtenValue(value: unknown, nodes: Set<string>): unknown {
  const path = pathOf(value);
  if (path !== undefined) {
    if (path.node !== undefined) nodes.add(path.node);
    return `{{${path.path}}}`;
  }
  if (typeof value === "string") return escaped(value);
  if (Array.isArray(value)) return value.map((item: unknown) => writtenValue(item, nodes));
  if (typeof value !== "object" || value === null) return value;
  if (TEMPLATE in value) {
    const made = value as Template;
    for (const node of made.nodes) nodes.add(node);
    return made[TEMPLATE];
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, writtenValue(item, nodes)]));
}
