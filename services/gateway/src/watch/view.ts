// The form in which a caller wants a stream: modes, and a filter on types and nodes. Without both, a stream has the events themselves and
// does not pass here.

import type { Graph } from "@pawl/core/definition/graph";
import type { NodeDefinition } from "@pawl/core/definition/shape";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isTerminalType, type RunEvent } from "@pawl/core/log/event";
import { executionDefinition } from "@pawl/core/log/execution";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import {
  itemsOf,
  type StreamItem,
  type StreamMode,
  valuesJson,
} from "@pawl/platform/wire/stream-item";
import type { View } from "../request/view-fields.ts";
import { LoggedEvent } from "./logged-event.ts";
import { projected } from "./project.ts";
import type { Watch, WatchRequest, WatchStream } from "./watch-run.ts";

/** The items of one event. */
export interface ViewedEvent {
  readonly logged: LoggedEvent;
  readonly items: readonly StreamItem[];
  readonly bytes: number;
}

export type ItemStream = AsyncGenerator<readonly ViewedEvent[], void, undefined>;

export interface ViewReader {
  /** The definition of a run. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION */
  readonly graphOf: (runId: RunId) => Promise<Graph>;
  /** The run before an event of its log: a state of the caller's own. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION */
  readonly stateBefore: (event: RunEvent) => Promise<RunState>;
}

export interface ViewDeps {
  readonly watch: Watch;
  readonly reader: ViewReader;
}

interface ViewRequest extends Omit<WatchRequest, "types" | "known"> {
  readonly view: View;
  /** Whether the run may lack nodes that the filter names. Default false. */
  readonly mayLackNodes?: boolean;
}

/** An event, or its items if the caller asked for modes. */
export type Form = LoggedEvent | ViewedEvent;
type FormStream = AsyncGenerator<readonly Form[], void, undefined>;

export const isViewed = (form: Form): form is ViewedEvent => !(form instanceof LoggedEvent);
export const isLogged = (form: Form): form is LoggedEvent => form instanceof LoggedEvent;
/** The event of the log that a form shows. */
export const eventOf = (form: Form): RunEvent => (isViewed(form) ? form.logged : form).event;

/** The run in the form of the view. @throws those of watchRun, NODE_NOT_FOUND */
export const formsOf = (deps: ViewDeps, request: ViewRequest): FormStream =>
  request.view.modes.size === 0 ? watchEvents(deps, request) : watchItems(deps, request);

const NO_TYPES: ReadonlySet<string> = new Set();

/** The events that pass the filter. @throws those of watchRun, NODE_NOT_FOUND */
export async function* watchEvents({ watch, reader }: ViewDeps, request: ViewRequest): WatchStream {
  const { view, mayLackNodes = false, ...rest } = request;
  if (view.nodeIds.size + view.nodeTypes.size === 0)
    return yield* watch({ ...rest, types: view.types });
  const graph = await reader.graphOf(request.runId);
  if (!mayLackNodes) checkNodes(view, graph, request.runId);
  const filter = new Filter(view, graph);
  yield* projected(watch({ ...rest, types: NO_TYPES }), {
    project: (logged) => (filter.passes(logged.event) ? logged : undefined),
  });
}

/** The items of the events that pass the filter, in the modes of the view. @throws those of watchRun, NODE_NOT_FOUND */
export async function* watchItems({ watch, reader }: ViewDeps, request: ViewRequest): ItemStream {
  const { view, mayLackNodes = false, ...rest } = request;
  const graph = await reader.graphOf(request.runId);
  if (!mayLackNodes) checkNodes(view, graph, request.runId);
  const filter = new Filter(view, graph);
  const { modes } = view;
  // The text of a tool of an agent is not text of a model. Only the state knows the tool of an execution.
  const isFolded = modes.has("values") || (modes.has("messages") && hasAgent(graph));
  yield* projected(watch({ ...rest, types: NO_TYPES }), {
    stateBefore: isFolded ? reader.stateBefore : undefined,
    project: (logged, state) => {
      const { event } = logged;
      const wanted = filter.passes(event) ? modes : filter.modesOfRun(event, modes);
      const items = itemsOf(event, {
        workflowId: logged.workflowId,
        modes: wanted,
        isModelText: () => isModelText(event, graph, state),
        values: () => (state === undefined ? "{}" : valuesJson(state, logged.workflowId)),
      });
      return items.length === 0 ? undefined : viewedEvent(logged, items);
    },
  });
}

function viewedEvent(logged: LoggedEvent, items: readonly StreamItem[]): ViewedEvent {
  const bytes = items.reduce((sum, { data }) => sum + (data?.length ?? logged.bytes), 0);
  return { logged, items, bytes };
}

const hasAgent = ({ nodes }: Graph): boolean =>
  nodes.some(({ definition }) => definition.scope?.agent !== undefined);

const MODEL_TYPES: ReadonlySet<string> = new Set(["llm", "agent"]);

function isModelText(event: RunEvent, graph: Graph, state: RunState | undefined): boolean {
  const index = event.nodeId === "" ? undefined : graph.indexOf.get(event.nodeId);
  if (index === undefined) return false;
  const types =
    state === undefined
      ? typesOf(graph.nodes[index]?.definition)
      : [executionDefinition(state, index, event.iteration).type];
  return types.some((type) => MODEL_TYPES.has(type));
}

/** The type of a node, and the type that its iterations run. */
const typesOf = (definition: NodeDefinition | undefined): readonly string[] => {
  const { type, scope } = definition ?? {};
  return [type, scope?.body.type].filter((each) => each !== undefined);
};

const MODES_OF_RUN: ReadonlySet<StreamMode> = new Set<StreamMode>(["metadata", "control"]);
const NO_MODES: ReadonlySet<StreamMode> = new Set();

/** A filter on types and nodes. The terminal event always passes. */
class Filter {
  readonly #types: ReadonlySet<string>;
  /** The nodes that pass; undefined if all do. */
  readonly #nodes: ReadonlySet<string> | undefined;

  constructor({ types, nodeIds, nodeTypes }: View, graph: Graph) {
    this.#types = types;
    if (nodeIds.size + nodeTypes.size === 0) return;
    const nodes = graph.nodes.map(({ definition }) => definition);
    this.#nodes = new Set(
      nodes
        .filter(({ id }) => nodeIds.size === 0 || nodeIds.has(id))
        .filter((node) => nodeTypes.size === 0 || typesOf(node).some((type) => nodeTypes.has(type)))
        .map(({ id }) => id),
    );
  }

  passes({ type, nodeId }: RunEvent): boolean {
    if (isTerminalType(type)) return true;
    if (this.#types.size > 0 && !this.#types.has(type)) return false;
    return this.#nodes?.has(nodeId) ?? true;
  }

  /** The modes about the run as a whole, which a filter on nodes does not touch. */
  modesOfRun({ type }: RunEvent, modes: ReadonlySet<StreamMode>): ReadonlySet<StreamMode> {
    if (this.#types.size > 0 && !this.#types.has(type)) return NO_MODES;
    return new Set([...modes].filter((mode) => MODES_OF_RUN.has(mode)));
  }
}

/** @throws NODE_NOT_FOUND for a node that the run does not have */
function checkNodes({ nodeIds }: View, graph: Graph, runId: RunId): void {
  for (const nodeId of nodeIds) {
    if (graph.nodes.some(({ definition }) => definition.id === nodeId)) continue;
    const metadata = { run_id: runId, node_id: nodeId };
    throw new EngineError("NODE_NOT_FOUND", `The run has no node ${nodeId}.`, { metadata });
  }
}
