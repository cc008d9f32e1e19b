// `flow`: a workflow in code. It builds the same data as YAML. A reference to a node makes the edge from it, so an edge cannot be forgotten.

import type { RawNode } from "@pawl/core/definition/schema";
import type { Handler } from "@pawl/core/handler/define";
import type { Given, StandardSchema } from "@pawl/core/handler/standard-schema";
import { inputSchemaOf } from "./input-schema.ts";
import { type Argument, joined, type Ref, refTo, writtenValue } from "./ref.ts";

/** JSON. */
export type Plain = string | number | boolean | null | readonly Plain[] | PlainObject;
export type PlainObject = { readonly [key: string]: Plain };

/** A node of a definition. */
export type PlainNode = PlainObject & { readonly id: string };

/** A definition as `workflows.apply` of @pawl/client takes it. */
export type FlowDefinition = PlainObject & {
  readonly id: string;
  readonly nodes: readonly PlainNode[];
  readonly edges: readonly PlainObject[];
};

export interface FlowOptions<S> {
  /** The schema of the run's input. It types `input`, and no run starts with an input that does not fit it. */
  readonly input?: S;
  readonly title?: string;
  readonly description?: string;
  readonly deadline_ms?: number;
}

type Own = Omit<RawNode, "id" | "type" | "config" | "input" | "retry" | "concurrency" | "rate">;

/** A node that comes first, or a handle by which it must be left. */
export type After<Node extends string> = Node | { readonly node: Node; readonly handle: string };

/** Keys of a node, as in YAML. */
export type NodeOptions<Node extends string = string, Config = unknown> = Partial<Own> & {
  readonly config?: Argument<Config>;
  readonly retry?: "standard" | Partial<Exclude<RawNode["retry"], undefined>>;
  readonly concurrency?: Limit;
  readonly rate?: Limit & { readonly per_ms: number };
  /** Nodes that come first without being read, and handles by which nodes are left. */
  readonly after?: readonly After<Node>[];
};

interface Limit {
  readonly key?: Argument<string>;
  readonly limit: number;
  readonly scope?: "workflow" | "tenant";
}

/** What a node may read: the run's input, and the outputs of earlier nodes by id. */
export type Refs<Input, Outputs> = { readonly input: Ref<Input> } & {
  readonly [Id in keyof Outputs]: Ref<Outputs[Id]>;
};

type Ids<Outputs> = keyof Outputs & string;
/** An id that no node has yet, and that `input` does not hide. */
type NewId<Id extends string, Outputs> = Id extends Ids<Outputs> | "input" ? never : Id;

/** Begins a workflow. */
export const flow = <S extends StandardSchema | undefined = undefined>(
  id: string,
  { input, ...options }: FlowOptions<S> = {},
): Flow<Given<S>, object> => {
  const schema = inputSchemaOf(input);
  // The schema is JSON that its library wrote.
  const head = schema === undefined ? {} : { input_schema: schema as Plain };
  return new FlowBuilder({ id, ...options, ...head }, [], []);
};

/** A workflow under construction. Every step gives a new one. */
export interface Flow<Input, Outputs> {
  /** The definition as plain data. */
  readonly definition: FlowDefinition;
  /** Adds a node that runs a handler. `given` makes the handler's input. */
  node<Id extends string, In, Out, Config>(
    id: NewId<Id, Outputs>,
    handler: Handler<In, Out, Config>,
    given: (refs: Refs<Input, Outputs>) => Argument<NoInfer<In>>,
    options?: NodeOptions<Ids<Outputs>, NoInfer<Config>>,
  ): Flow<Input, Outputs & Record<Id, Out>>;
  /** Adds a node of a built-in type, or of any type by its name. `config` makes its config. */
  builtIn<Id extends string, Out = unknown>(
    id: NewId<Id, Outputs>,
    type: string,
    config: (refs: Refs<Input, Outputs>) => Readonly<Record<string, unknown>>,
    options?: Omit<NodeOptions<Ids<Outputs>>, "config">,
  ): Flow<Input, Outputs & Record<Id, Out>>;
  /** Adds a condition: it is left by the first branch whose `expression` holds, else by `else`. */
  condition<Id extends string>(
    id: NewId<Id, Outputs>,
    branches: (refs: Refs<Input, Outputs>) => Readonly<Record<string, Ref<string>>>,
    options?: Omit<NodeOptions<Ids<Outputs>>, "config">,
  ): Flow<Input, Outputs & Record<Id, { readonly branch: string }>>;
}

interface NodeParts {
  readonly id: string;
  readonly type: string;
  readonly options: NodeOptions | undefined;
  /** The keys that hold references. */
  readonly made: Readonly<Record<string, unknown>>;
}

class FlowBuilder<Input, Outputs> implements Flow<Input, Outputs> {
  readonly #head: PlainObject & { readonly id: string };
  readonly #nodes: readonly PlainNode[];
  readonly #edges: readonly PlainObject[];

  constructor(
    head: PlainObject & { readonly id: string },
    nodes: readonly PlainNode[],
    edges: readonly PlainObject[],
  ) {
    this.#head = head;
    this.#nodes = nodes;
    this.#edges = edges;
  }

  get definition(): FlowDefinition {
    return { ...this.#head, nodes: this.#nodes, edges: this.#edges };
  }

  node<Id extends string, In, Out, Config>(
    id: NewId<Id, Outputs>,
    handler: Handler<In, Out, Config>,
    given: (refs: Refs<Input, Outputs>) => Argument<NoInfer<In>>,
    options?: NodeOptions<Ids<Outputs>, NoInfer<Config>>,
  ): Flow<Input, Outputs & Record<Id, Out>> {
    return this.#with({ id, type: handler.type, options, made: { input: given(this.#refs()) } });
  }

  builtIn<Id extends string, Out = unknown>(
    id: NewId<Id, Outputs>,
    type: string,
    config: (refs: Refs<Input, Outputs>) => Readonly<Record<string, unknown>>,
    options?: Omit<NodeOptions<Ids<Outputs>>, "config">,
  ): Flow<Input, Outputs & Record<Id, Out>> {
    return this.#with({ id, type, options, made: { config: config(this.#refs()) } });
  }

  condition<Id extends string>(
    id: NewId<Id, Outputs>,
    branches: (refs: Refs<Input, Outputs>) => Readonly<Record<string, Ref<string>>>,
    options?: Omit<NodeOptions<Ids<Outputs>>, "config">,
  ): Flow<Input, Outputs & Record<Id, { readonly branch: string }>> {
    const entries = Object.entries(branches(this.#refs()));
    const config = { branches: entries.map(([branch, when]) => ({ id: branch, when })) };
    return this.#with({ id, type: "condition", options, made: { config } });
  }

  #refs(): Refs<Input, Outputs> {
    const outputs = this.#nodes.map(({ id }) => [id, refTo(joined("ctx.nodes", id), id)]);
    // The nodes so far are the keys of Outputs.
    return Object.fromEntries([...outputs, ["input", refTo("ctx.input")]]) as Refs<Input, Outputs>;
  }

  #with<More>({ id, type, options = {}, made }: NodeParts): Flow<Input, Outputs & More> {
    if (id === "input" || this.#nodes.some((node) => node.id === id))
      throw new TypeError(`the flow has a node ${JSON.stringify(id)} already; choose another id`);
    const { after = [], ...own } = options;
    const read = new Set<string>();
    // References became templates, so the rest is JSON that the caller wrote.
    const node = writtenValue({ id, type, ...made, ...own }, read) as PlainNode;
    const edges = edgesTo(id, read, after);
    return new FlowBuilder<Input, Outputs & More>(
      this.#head,
      [...this.#nodes, node],
      [...this.#edges, ...edges],
    );
  }
}

/** One edge from each node that is read or comes first; a handle that `after` names replaces the plain edge. */
function edgesTo(
  target: string,
  read: ReadonlySet<string>,
  after: readonly After<string>[],
): PlainObject[] {
  const named = after.map((one) => (typeof one === "string" ? { node: one } : one));
  const ordered = [...new Set([...read, ...named.map(({ node }) => node)])];
  return ordered.flatMap((source): PlainObject[] => {
    const handles = named.flatMap((one) =>
      one.node === source && "handle" in one ? [one.handle] : [],
    );
    if (handles.length === 0) return [{ source, target }];
    return handles.map((handle) => ({ source, target, source_handle: handle }));
  });
}
