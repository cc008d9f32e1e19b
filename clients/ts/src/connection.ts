// The interface of the client to its platform. `#connection` of package.json is the module of the platform: `node/connection.ts` in Node,
// and `fetch-connection.ts` everywhere else. So no bundle for browsers has code of Node.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type {
  AcceptedSubmission,
  RunEnd,
  StartRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { Clock } from "./backoff.ts";

/** A start. Its request id makes a repeat harmless. */
export type Start = MessageInitShape<typeof StartRunRequestSchema> & {
  readonly requestId: string;
};

export interface SubmitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once, when the run is accepted. */
  readonly onAccepted?: ((accepted: AcceptedSubmission) => void) | undefined;
}

/** Starts runs and waits for their ends, across reconnects. After an abort the run continues. */
export interface Submitter {
  /** @throws PawlError */
  start(start: Start, options?: SubmitOptions): Promise<AcceptedSubmission>;
  /** @throws PawlError */
  run(start: Start, options?: SubmitOptions): Promise<RunEnd>;
  close(): void;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  /** Attempts of a call in all. */
  readonly attempts: number;
  readonly timeoutMs: number;
}

/** The connection to the gateways. */
export interface Connection {
  readonly transport: Transport;
  /** Absent on platforms without streams in both directions. */
  readonly submitter?: Submitter;
  close(): void;
}

/** Opens nothing until the first call. Takes addresses such as http://127.0.0.1:7400. */
export type Connect = (addresses: readonly string[], options: ConnectionOptions) => Connection;
