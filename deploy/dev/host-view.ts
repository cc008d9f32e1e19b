// The facts of the hosts of `pawl dev` about a version of the handler process, by the name that the version connects with. A process serves
// one host of its list, so each host is looked at on its own: one that does not answer delays no other.
import { setTimeout as delay } from "node:timers/promises";
import { createGrpcClient, type GrpcClient } from "@pawl/platform/rpc/grpc-client";
import {
  HandlerService,
  type Session,
  SessionState,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { GenerationsOptions } from "./generations.ts";
import { IGNORE_GRACE_MS } from "./stuck.ts";

const POLL_MS = 100;
/** The host lists a session a moment before the scheduler has answered about its types. So the session is read again this many times. */
const LOOKS = 10;
/** How often the hosts are asked about functions that ignore their cancel. */
const STUCK_POLL_MS = 1_000;

interface HostView extends Pick<GenerationsOptions, "connected" | "leaving" | "refused" | "stuck"> {
  readonly close: () => void;
}

interface HostViewOptions {
  /** host:port of each host. */
  readonly addresses: readonly string[];
  readonly nameOf: (version: number) => string;
  readonly token: string | undefined;
  /** Called when a host does not answer, once until it answers again. */
  readonly onFault: (address: string, why: string) => void;
}

/** One host, as the looks at it find it. */
class HostLook {
  readonly #client: GrpcClient<typeof HandlerService>;
  readonly #metadata: Readonly<Record<string, string>>;
  readonly #onFault: (why: string) => void;
  #isSilent = false;

  constructor(address: string, { token, onFault }: HostViewOptions) {
    this.#client = createGrpcClient(HandlerService, address);
    this.#metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#onFault = (why) => onFault(address, why);
  }

  /** The session of this name. A host that does not answer has none. Rejects when the signal aborts. */
  async find(name: string, signal: AbortSignal): Promise<Session | undefined> {
    try {
      const { sessions } = await this.#client.call.listSessions(
        {},
        { metadata: this.#metadata, signal },
      );
      this.#isSilent = false;
      // A process that was killed is listed for some seconds, and the next one may have its name.
      return sessions.find(
        (session) => session.name === name && session.state !== SessionState.CUT,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!this.#isSilent) this.#onFault(error instanceof Error ? error.message : String(error));
      this.#isSilent = true;
      return undefined;
    }
  }

  /** Settles when the host gives no work to the session of this name. Rejects when the signal aborts. */
  async left(name: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const session = await this.find(name, signal);
      if (session === undefined || session.state === SessionState.DRAINING) return;
      await pause(signal).catch(() => signal.throwIfAborted());
    }
  }

  close(): void {
    this.#client.close();
  }
}

const pause = (signal: AbortSignal, ms = POLL_MS): Promise<void> =>
  delay(ms, undefined, { signal });

/** Looks at the hosts. */
export function lookAtHosts(options: HostViewOptions): HostView {
  const { addresses, nameOf } = options;
  const hosts = addresses.map((address) => new HostLook(address, options));
  /** Looks at each host until one of them has the answer; the answer. */
  const first = async <T>(
    signal: AbortSignal,
    look: (host: HostLook, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      return await Promise.any(hosts.map((host) => look(host, either)));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      over.abort();
    }
  };
  return {
    close: () => hosts.forEach((host) => host.close()),
    connected: (version, given) =>
      first(given, async (host, signal) => {
        while ((await host.find(nameOf(version), signal)) === undefined) await pause(signal);
      }),
    async leaving(version, signal) {
      await Promise.all(hosts.map((host) => host.left(nameOf(version), signal)));
    },
    stuck: (version, isAlone, given) =>
      first(given, async (host, signal) => {
        for (;;) {
          const session = await host.find(nameOf(version), signal);
          if (session !== undefined && isStuck(session, isAlone)) return session.ignoring;
          await pause(signal, STUCK_POLL_MS);
        }
      }),
    async refused(version, given) {
      try {
        await first(given, async (host, signal) => {
          for (let look = 0; look < LOOKS; look += 1) {
            const session = await host.find(nameOf(version), signal);
            if (session?.refused.some(({ reason }) => reason === "TYPE_CONFLICT") === true) return;
            await pause(signal);
          }
          throw new Error("this host refused no type");
        });
        return true;
      } catch {
        given.throwIfAborted();
        return false;
      }
    },
  };
}

/** Whether a function has ignored its cancel for the grace. `isAlone`: and nothing else runs in the process. */
const isStuck = ({ ignoring, ignoringMs, busy }: Session, isAlone: boolean): boolean =>
  ignoring > 0 && ignoringMs >= IGNORE_GRACE_MS && (!isAlone || busy === ignoring);
