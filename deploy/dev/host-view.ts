// The facts of the host of `pawl dev` about a version of the handler process, by the name that the version connects with.
import { setTimeout as delay } from "node:timers/promises";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { HandlerService, type Session } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { GenerationsOptions } from "./generations.ts";

const POLL_MS = 100;
/** The host lists a session a moment before the scheduler has answered about its types. So the session is read again this many times. */
const LOOKS = 10;

interface HostView extends Pick<GenerationsOptions, "connected" | "refused"> {
  readonly close: () => void;
}

/** Looks at the host at `address`. */
export function lookAtHost(
  address: string,
  nameOf: (version: number) => string,
  token: string | undefined,
): HostView {
  const host = createGrpcClient(HandlerService, address);
  const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const find = async (version: number, signal: AbortSignal): Promise<Session | undefined> => {
    // A host that does not answer yet has no session.
    const { sessions } = await host.call
      .listSessions({}, { metadata, signal })
      .catch(() => ({ sessions: [] }));
    return sessions.find(({ name }) => name === nameOf(version));
  };
  const pause = (signal: AbortSignal): Promise<void> => delay(POLL_MS, undefined, { signal });
  return {
    close: () => host.close(),
    async connected(version, signal) {
      while ((await find(version, signal)) === undefined) await pause(signal);
    },
    async refused(version, signal) {
      for (let look = 0; look < LOOKS; look += 1) {
        const session = await find(version, signal);
        if (session?.refused.some(({ reason }) => reason === "TYPE_CONFLICT") === true) return true;
        await pause(signal);
      }
      return false;
    },
  };
}
