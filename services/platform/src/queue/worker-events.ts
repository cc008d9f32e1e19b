// What a worker says of itself to whoever embeds it (S0.27-S0.34). Telemetry and tests listen; nothing depends on a listener, and
// one that throws is not allowed to hurt the work.

/** Names and payloads of every event. An executor's `jobId` is run/node/iteration/epoch, which names one claim; a queue worker's is its job's. */
export interface WorkerEventMap {
  readonly "worker:started": { readonly workerId: string };
  readonly "worker:stopped": { readonly workerId: string };
  readonly "job:claimed": { readonly jobId: string; readonly runId: string };
  readonly "job:completed": { readonly jobId: string; readonly runId: string };
  /** The attempt failed; another may follow. */
  readonly "job:failed": { readonly jobId: string; readonly runId: string; readonly error: string };
  readonly "job:released": { readonly jobId: string; readonly runId: string };
  /** It failed for good: nobody will try it again by himself. */
  readonly "job:dead_letter": {
    readonly jobId: string;
    readonly runId: string;
    readonly error: string;
  };
  /** The claim is somebody else's by now; nothing was said about it and nothing will be. */
  readonly "job:claim_lost": { readonly jobId: string; readonly runId: string };
}

export type WorkerEventName = keyof WorkerEventMap;
type Listener<Name extends WorkerEventName> = (event: WorkerEventMap[Name]) => void;
type Listeners = { [Name in WorkerEventName]: Set<Listener<Name>> };

export class WorkerEvents {
  readonly #listeners: Listeners = {
    "worker:started": new Set(),
    "worker:stopped": new Set(),
    "job:claimed": new Set(),
    "job:completed": new Set(),
    "job:failed": new Set(),
    "job:released": new Set(),
    "job:dead_letter": new Set(),
    "job:claim_lost": new Set(),
  };

  /** Listens; the returned function stops listening. */
  on<Name extends WorkerEventName>(name: Name, listener: Listener<Name>): () => void {
    const listeners: Set<Listener<Name>> = this.#listeners[name];
    listeners.add(listener);
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
    const listeners: Set<Listener<Name>> = this.#listeners[name];
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // A listener's fault is its own.
      }
    }
  }
}
