// The pauses that this scheduler knows, and the events that receivers of webhooks get of every run. They may be old. Every start, every claim and every end of a run names the epoch of
// the pauses that it was decided on, and the store refuses an older epoch. A scheduler that does not know a pause then reads the pauses again, and breaks none. It learns of
// pauses by notification, by every survey of the queues, and by that refusal.
//
// Race: two reads are under way, and the answer of the older one comes last. The higher epoch wins.

import { unreachable } from "@pawl/core/fault/invariant";
import type { PauseNote } from "@pawl/core/log/event";
import type { PauseBook, PauseKey, PauseRecord, Pauses } from "@pawl/platform/store/pauses/pauses";

/** The pauses of one epoch. A view never changes. The commit of a tick proves that its view was current. */
export interface PauseView {
  readonly epoch: number;
  /** The pause that holds the runs of a workflow. */
  workflow(tenantId: string, workflowId: string | null): PauseRecord | undefined;
  /** Whether no executor may claim nodes of this type. */
  isQueuePaused(nodeType: string): boolean;
  /** The node types of paused queues. */
  readonly queues: ReadonlySet<string>;
  /** Workflows whose runs have not all followed the pause or the resumption. */
  readonly unsettled: readonly PauseRecord[];
  /** The events that receivers of webhooks get of runs that do not name them. */
  readonly webhookEvents: ReadonlySet<string>;
}

const keyOf = (tenantId: string, name: string): string => `${tenantId}\n${name}`;

function viewOf({ epoch, pauses, webhookEvents }: PauseBook): PauseView {
  const of = (scope: PauseKey["scope"]): PauseRecord[] =>
    pauses.filter((pause) => pause.scope === scope && pause.state !== "resuming");
  const workflows = new Map(of("workflow").map((each) => [keyOf(each.tenantId, each.name), each]));
  const queues = new Set(of("queue").map(({ name }) => name));
  return {
    epoch,
    queues,
    webhookEvents: new Set(webhookEvents),
    unsettled: pauses.filter(({ state }) => state !== "paused"),
    workflow: (tenantId, workflowId) =>
      workflows.size === 0 || workflowId === null
        ? undefined
        : workflows.get(keyOf(tenantId, workflowId)),
    isQueuePaused: (nodeType) => queues.size > 0 && queues.has(nodeType),
  };
}

/** The view before the first read. Every stored epoch is higher, so no decision on this view commits. */
const NOTHING_KNOWN = viewOf({ epoch: 0, pauses: [], webhookEvents: [] });

interface KnownPausesOptions {
  readonly pauses: Pick<Pauses, "read">;
  /** Executors may claim nodes of these types again. */
  readonly onResumed: (nodeTypes: readonly string[]) => void;
  /** Some workflow has runs that have not followed yet. */
  readonly onUnsettled: () => void;
  readonly onError: (error: unknown) => void;
}

export class KnownPauses {
  readonly #options: KnownPausesOptions;
  #current = NOTHING_KNOWN;

  constructor(options: KnownPausesOptions) {
    this.#options = options;
  }

  get current(): PauseView {
    return this.#current;
  }

  /** Reads the pauses. @throws STORE_UNAVAILABLE */
  async reload(): Promise<PauseView> {
    const { pauses, onResumed, onUnsettled } = this.#options;
    const view = viewOf(await pauses.read());
    const before = this.#current;
    if (view.epoch < before.epoch) return before;
    this.#current = view;
    const resumed = [...before.queues].filter((type) => !view.isQueuePaused(type));
    if (resumed.length > 0) onResumed(resumed);
    if (view.unsettled.length > 0) onUnsettled();
    return view;
  }

  /** Reads the pauses in the background, if this epoch is newer than the known one. */
  noticed(epoch: number): void {
    if (epoch > this.#current.epoch) this.look();
  }

  /** Reads the pauses in the background. */
  look(): void {
    this.reload().catch(this.#options.onError);
  }
}

/** The note in a run's log about the pause of its workflow, or about the resumption that is under way. */
export function noteOfWorkflow(pause: PauseRecord): PauseNote {
  switch (pause.state) {
    case "pausing":
    case "paused":
      return { scope: "workflow", who: pause.by, reason: pause.reason };
    case "resuming":
      return { scope: "workflow", who: pause.resumedBy, reason: pause.resumeReason };
    default:
      return unreachable(pause.state, "pause state");
  }
}
