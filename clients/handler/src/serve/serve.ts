// Serves handlers from this process until it is stopped. `serve` is for programs: it leaves on SIGTERM and SIGINT. `startServing` is for code
// that stops by itself.

import { randomUUID } from "node:crypto";
import type { ServedHandler } from "@pawl/core/handler/served";
import { addressesOf } from "@pawl/core/name/addresses";
import { type ProcessOptions, thisProcess } from "@pawl/executor/this-process";
import { type Host, Link, type Status } from "./link.ts";
import { dial } from "./stream.ts";

export type { Status } from "./link.ts";

const ADDRESS = "127.0.0.1:7404";
const SLOTS = 16;
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

export interface ServeOptions extends ProcessOptions {
  /** host:port of the executor, or of several, separated by commas; default PAWL_HANDLER_ADDRESS, then 127.0.0.1:7404. */
  readonly address?: string;
  /** Default PAWL_HANDLER_TOKEN. */
  readonly token?: string;
  /** How many invocations run at once; default 16. */
  readonly slots?: number;
  /** Called with each line about the connection; default standard error. */
  readonly log?: (line: string) => void;
}

/** Handlers that are served. */
export interface Serving {
  status(): Status;
  /** Takes no more work, finishes what runs, and leaves. */
  stop(): void;
  /** Settles when the process has left. Rejects if the host refuses the process before its first Welcome. */
  readonly done: Promise<void>;
}

/** The hosts of a text. @throws RangeError for a text without an address */
function hostsOf(text: string, token: string | undefined): [Host, ...Host[]] {
  const hosts = addressesOf(text).map((address): Host => ({
    address,
    dialler: dial(address, token),
  }));
  const [first, ...others] = hosts;
  if (first === undefined)
    throw new RangeError(`"${text}" has no address of an executor, such as ${ADDRESS}`);
  return [first, ...others];
}

/** Connects to a host and runs handlers for it. */
export function startServing(
  handlers: readonly ServedHandler[],
  options: ServeOptions = {},
): Serving {
  const { env } = process;
  const slots = options.slots ?? SLOTS;
  const hello = {
    protocol: 1,
    ...thisProcess(options),
    slots,
    handlers: handlers.map(({ type, description, stallMs, external, wantsState, schemas }) => ({
      type,
      description,
      stallMs: BigInt(stallMs),
      external,
      inputSchema: schemas.input,
      outputSchema: schemas.output,
      configSchema: schemas.config,
      state: wantsState,
    })),
  };
  const log = options.log ?? ((line: string) => void process.stderr.write(`pawl: ${line}\n`));
  for (const { type, schemas } of handlers)
    for (const fault of schemas.faults) log(`${type}: ${fault}`);
  const token = options.token ?? env["PAWL_HANDLER_TOKEN"];
  const link = new Link({
    hello,
    handlers,
    slots,
    hosts: hostsOf(options.address ?? env["PAWL_HANDLER_ADDRESS"] ?? ADDRESS, token),
    newId: randomUUID,
    log,
  });
  return { status: () => link.status, stop: () => link.stop(), done: link.run() };
}

/** Serves until a signal; a second signal exits at once. @throws if the host refuses the process before its first Welcome */
export async function serve(
  handlers: readonly ServedHandler[],
  options: ServeOptions = {},
): Promise<void> {
  const serving = startServing(handlers, options);
  let signals = 0;
  const onSignal = (signal: keyof typeof SIGNALS): void => {
    signals += 1;
    if (signals > 1) process.exit(SIGNALS[signal]);
    serving.stop();
  };
  const names = ["SIGINT", "SIGTERM"] as const;
  for (const name of names) process.on(name, onSignal);
  try {
    await serving.done;
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
