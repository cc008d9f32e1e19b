// Opens sockets for outbound requests. It resolves the host once, checks every address, connects only to those, and checks the address of
// the open socket again. So a name whose answer changes between check and connect (DNS rebinding) reaches no other address.

import { Agent, buildConnector } from "undici";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isAllowed, portOf, type EgressPolicy, type Target } from "@pawl/platform/egress/url";
import { resolveAllowed, type Lookup } from "./guard.ts";

export const CONNECT_TIMEOUT_MS = 5_000;
/** How long a server may be silent before its headers, and between two chunks of its body. */
export const IDLE_TIMEOUT_MS = 10_000;
const HEADER_BYTES_MAX = 16 * 1024;

/** An agent that cannot reach an address the policy refuses. It never reads proxy settings from the environment. */
export function guardedAgent(policy: EgressPolicy, lookup?: Lookup): Agent {
  return new Agent({
    connect: (options, done) => {
      const { hostname: host, port, protocol } = options;
      const target = { host, port: portOf({ port: port ?? "", protocol }) };
      void answer(connectChecked(options, target, { policy, lookup }), done);
    },
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    connections: 64,
    pipelining: 1,
    allowH2: false,
  });
}

type Socket = Exclude<Parameters<buildConnector.Callback>[1], null>;

/** Adapts to undici's callback. The request gets a refusal as an error. */
async function answer(connecting: Promise<Socket>, done: buildConnector.Callback): Promise<void> {
  const opened = await connecting.catch(asError);
  if (opened instanceof Error) done(opened, null);
  else done(null, opened);
}

/** @throws FORBIDDEN if the host is, or resolves to, an address the policy refuses. */
async function connectChecked(
  options: buildConnector.Options,
  target: Target,
  guard: { readonly policy: EgressPolicy; readonly lookup: Lookup | undefined },
): Promise<Socket> {
  const addresses = await resolveAllowed(target, guard.policy, guard.lookup);
  const [first] = addresses ?? [];
  if (addresses === undefined || first === undefined) {
    throw new EngineError("FORBIDDEN", "the host resolves to an address that may not be called");
  }
  const connector = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: (_host, asked, done) => {
      if (asked.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    },
  });
  const socket = await new Promise<Socket>((resolve, reject) => {
    connector(options, (error, opened) => {
      if (opened === null) reject(asError(error));
      else resolve(opened);
    });
  });
  if (isAllowed(socket.remoteAddress ?? "", target, guard.policy)) return socket;
  socket.destroy();
  throw new EngineError("FORBIDDEN", "the connection ended at an address that may not be called");
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
