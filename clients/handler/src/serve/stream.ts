// One stream to a host over grpc-js: the only file that knows the transport.
//
// The race it survives: the host, the network and this process may each end the stream, in any order. `onEnd` is called once, and later writes
// do nothing.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type StatusObject } from "@grpc/grpc-js";
import {
  HandlerService,
  ServeRequestSchema,
  type ServeResponse,
  ServeResponseSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { RequestInit } from "./session.ts";

/** How a stream ended, as a gRPC status. */
export type StreamEnd = Pick<StatusObject, "code" | "details">;

export interface StreamListener {
  readonly onMessage: (message: ServeResponse) => void;
  readonly onEnd: (end: StreamEnd) => void;
  /** The buffer has room again. */
  readonly onDrain: () => void;
}

export interface HostStream {
  /** False if the buffer is full: wait for `onDrain` before the next message. */
  write(message: RequestInit): boolean;
  /** Ends the stream at once. */
  close(): void;
}

/** Opens streams to one address; the connection is made on demand and again after a loss. */
export interface Dialler {
  open(listener: StreamListener): HostStream;
  close(): void;
}

const MESSAGE_BYTES = 16 * 1024 * 1024;
const SERVE = `/${HandlerService.typeName}/${HandlerService.method.serve.name}`;

export function dial(address: string, token: string | undefined): Dialler {
  const client = new Client(address, credentials.createInsecure(), {
    // A stream reports its end at once; this process decides when to connect again.
    "grpc.enable_retries": 0,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.max_receive_message_length": MESSAGE_BYTES,
    "grpc.max_send_message_length": MESSAGE_BYTES,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config_disable_resolution": 1,
  });
  const metadata = new Metadata();
  if (token !== undefined && token !== "") metadata.set("authorization", `Bearer ${token}`);
  return {
    open: (listener) => {
      const call = client.makeBidiStreamRequest(SERVE, serialize, deserialize, metadata);
      let isOver = false;
      call.on("data", (message: ServeResponse) => {
        if (!isOver) listener.onMessage(message);
      });
      call.on("drain", () => listener.onDrain());
      // Without a listener a broken stream would throw; its status reports the same error.
      call.on("error", () => undefined);
      call.on("status", ({ code, details }: StatusObject) => {
        isOver = true;
        listener.onEnd({ code, details });
      });
      return {
        write: (message) => isOver || call.write(message),
        close: () => {
          isOver = true;
          call.cancel();
        },
      };
    },
    close: () => client.close(),
  };
}

const serialize = (message: RequestInit): Buffer =>
  Buffer.from(toBinary(ServeRequestSchema, create(ServeRequestSchema, message)));

const deserialize = (bytes: Buffer): ServeResponse =>
  fromBinary(ServeResponseSchema, new Uint8Array(bytes));
