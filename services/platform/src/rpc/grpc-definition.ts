// Makes a grpc-js service definition from a protobuf-es descriptor. Both share one contract, without proto-loader.

import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";

/** Accepts whole messages and plain init objects. Handlers may return either. */
const serialize = (schema: DescMessage) => (message: Message) => {
  // An init object has no type name. `create` accepts everything that the typed handler may return.
  const whole = message.$typeName === undefined ? create(schema, message as never) : message;
  const bytes = toBinary(schema, whole);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/** Reads from a plain Uint8Array, so bytes fields are not Buffers. Drops unknown fields. */
const deserialize = (schema: DescMessage) => (buffer: Buffer) =>
  fromBinary(schema, new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength), {
    readUnknownFields: false,
  });

/** The answer to the sender of a message that could not be read. */
const malformed = (cause: unknown): EngineError => {
  const what = cause instanceof Error ? cause.message : String(cause);
  return new EngineError("INPUT_INVALID", `The request is not a message of its type: ${what}.`, {
    metadata: { wire_error: "true" },
    cause,
  });
};

/**
 * The same reader, which returns the error instead of throwing it. A request that does not parse is its sender's fault, but grpc-js would
 * answer INTERNAL before any handler gets the call. So the error replaces the message, and the wrapper of the handler answers with it.
 */
export const readOrMalformed =
  <Bytes, Request>(read: (bytes: Bytes) => Request) =>
  (bytes: Bytes): Request | EngineError => {
    try {
      return read(bytes);
    } catch (error) {
      return malformed(error);
    }
  };

/** For both `Server.addService` and `makeClientConstructor`; keys are the methods' local names. */
export const grpcDefinition = (service: DescService): ServiceDefinition =>
  Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      {
        path: `/${service.typeName}/${method.name}`,
        originalName: method.localName,
        requestStream:
          method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
        responseStream:
          method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
        requestSerialize: serialize(method.input),
        requestDeserialize: readOrMalformed(deserialize(method.input)),
        responseSerialize: serialize(method.output),
        responseDeserialize: deserialize(method.output),
      },
    ]),
  );
