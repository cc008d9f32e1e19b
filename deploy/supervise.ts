// Keeps one part running: a service or the database.
//
// States: idle → starting → up → (it ends) → waiting → starting …; stop() leads from any state to stopped. A part that ends starts again
// after a backoff, which doubles with each quick end and is reset once the part stayed up. Race: stop() comes during a restart. The start
// is aborted, and a start that has already succeeded is stopped.
import { setTimeout as delay } from "node:timers/promises";

const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 10_000;
const STABLE_MS = 30_000;

/** A running part. */
export type Lifetime = {
  readonly pid: number;
  readonly exited: Promise<string>;
  stop(): Promise<void>;
};

/** An event of a supervised part after its first start. */
export type Incident =
  | { readonly kind: "ended"; readonly how: string; readonly retryMs: number }
  | { readonly kind: "failed"; readonly error: Error; readonly retryMs: number }
  | { readonly kind: "restarted"; readonly pid: number };

/** An incident as a line for the terminal. */
export function incidentLine(name: string, incident: Incident): string {
  switch (incident.kind) {
    case "ended":
      return `! the ${name} ended (${incident.how}); starting it again`;
    case "failed":
      return `! the ${name} does not start; trying again in ${incident.retryMs} ms`;
    case "restarted":
      return `the ${name} is up again (process ${incident.pid})`;
    default:
      return incident satisfies never;
  }
}

type SuperviseOptions = {
  readonly start: (signal: AbortSignal) => Promise<Lifetime>;
  readonly report: (incident: Incident) => void;
};

/** Starts a part, and starts it again whenever it ends, until stop(). */
export class Supervised {
  readonly #options: SuperviseOptions;
  readonly #stopping = new AbortController();
  #current: Lifetime | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: SuperviseOptions) {
    this.#options = options;
  }

  /** The pid of the present process. 0 between two. */
  get pid(): number {
    return this.#current?.pid ?? 0;
  }

  /** The first start. It rejects when that fails. */
  async start(): Promise<void> {
    this.#current = await this.#options.start(this.#stopping.signal);
    this.#loop = this.#keepUp();
  }

  /** Ends the part and its restarts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#current?.stop();
    await this.#loop;
  }

  async #keepUp(): Promise<void> {
    const { signal } = this.#stopping;
    let quickDeaths = 0;
    while (!signal.aborted && this.#current !== undefined) {
      const upSince = performance.now();
      const how = await this.#current.exited;
      if (signal.aborted) return;
      this.#current = undefined;
      quickDeaths = performance.now() - upSince > STABLE_MS ? 0 : quickDeaths + 1;
      this.#options.report({ kind: "ended", how, retryMs: backoffMs(quickDeaths) });
      await this.#startAgain(quickDeaths);
    }
  }

  async #startAgain(quickDeaths: number): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = quickDeaths; !signal.aborted; failures += 1) {
      await delay(backoffMs(failures), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const next = await this.#options.start(signal);
        this.#current = next;
        if (signal.aborted) await next.stop();
        else this.#options.report({ kind: "restarted", pid: next.pid });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const cause = error instanceof Error ? error : new Error(String(error));
        this.#options.report({ kind: "failed", error: cause, retryMs: backoffMs(failures + 1) });
      }
    }
  }
}

/** Doubles from a quarter of a second. A part that stayed up restarts at once. */
export function backoffMs(failures: number): number {
  if (failures === 0) return 0;
  return Math.min(BACKOFF_MS * 2 ** (failures - 1), BACKOFF_MS_MAX);
}
