// The status of a run from its events alone, without its graph: what the view of clients derives it from.

import type { EventType, NodeStatus, RunStatus } from "./event.ts";
import { isActive, isBackingOff, statusOf } from "./run-status.ts";

interface Counted {
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly deliveries: readonly { readonly notBeforeAt: number | undefined }[];
}

export class StandingFold {
  #status: RunStatus;
  #hasBegun = false;
  #activeCount = 0;
  #backoffCount = 0;

  constructor(status: RunStatus) {
    this.#status = status;
  }

  /** The status as users see it. */
  get derived(): RunStatus {
    return statusOf({
      ...{ status: this.#status, hasBegun: this.#hasBegun },
      ...{ activeCount: this.#activeCount, backoffCount: this.#backoffCount },
    });
  }

  /** Folds an event, and the status that it gives the run. */
  add(type: EventType, status: RunStatus | undefined): void {
    this.#status = status ?? this.#status;
    this.#hasBegun ||= type === "node.started" || type === "node.blocked";
  }

  /** Adds an execution by its present status, or removes it. */
  count({ status, attempt, deliveries }: Counted, step: 1 | -1): void {
    if (isActive(status)) this.#activeCount += step;
    const notBefore = deliveries.at(-1)?.notBeforeAt;
    if (isBackingOff(status, attempt, notBefore)) this.#backoffCount += step;
  }
}
