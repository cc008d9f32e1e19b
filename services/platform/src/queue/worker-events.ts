// The events of a worker, for the process that embeds it. Telemetry and tests listen to them. A listener that throws does not disturb the
// work.

interface JobEvent {
  readonly jobId: string;
  readonly runId: string;
}

/**
 * Names and payloads. The `jobId` of an executor is run/node/iteration/epoch, which names one claim. The `jobId` of a queue worker is its
 * job's id.
 */
interface WorkerEventMap {
  readonly "worker:started": { readonly workerId: string };
  readonly "worker:stopped": { readonly workerId: string };
  readonly "job:claimed": JobEvent;
  readonly "job:completed": JobEvent;
  /** The attempt failed. Another may follow. */
  readonly "job:failed": JobEvent & { readonly error: string };
  readonly "job:released": JobEvent;
  /** The job failed, and no worker tries it again by itself. */
  readonly "job:dead_letter": JobEvent & { readonly error: string };
  /** Another worker has the claim. This worker sends nothing more about it. */
  readonly "job:claim_lost": JobEvent;
}

export type WorkerEventName = keyof WorkerEventMap;
type Listener<Name extends WorkerEventName> = (event: WorkerEventMap[Name]) => void;

export class WorkerEvents {
  readonly #listeners = new Map<WorkerEventName, Set<Listener<never>>>();

  /** Listens. The returned function stops listening. */
  on<Name extends WorkerEventName>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** The next event of a name. */
  async once<Name extends WorkerEventName>(name: Name): Promise<WorkerEventMap[Name]> {
    const { promise, resolve } = Promise.withResolvers<WorkerEventMap[Name]>();
    const off = this.on(name, resolve);
    try {
      return await promise;
    } finally {
      off();
    }
  }

  emit<Name extends WorkerEventName>(name: Name, event: WorkerEventMap[Name]): void {
    // `on` stores the listeners of a name under that name.
    const listeners = this.#listeners.get(name) as ReadonlySet<Listener<Name>> | undefined;
    for (const listener of listeners ?? []) {
      try {
        listener(event);
      } catch {
        // A listener that throws does not disturb the work.
      }
    }
  }
}
