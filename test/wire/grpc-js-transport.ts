// A native grpc-js client in the shape of a Connect transport, so that the same table of calls runs through it.
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";

const serialize =
  (schema: DescMessage) =>
  (message: Message): Buffer =>
    Buffer.from(toBinary(schema, message));
const deserialize =
  (schema: DescMessage) =>
  (bytes: Buffer): Message =>
    fromBinary(schema, new Uint8Array(bytes));

/** Opens a channel to host:port. */
export function grpcJsTransport(address: string): Transport & { close(): void } {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
  });
  const transport: Transport = {
    unary: async (method, _signal, timeoutMs = 30_000, header, input) => {
      const message = await new Promise<unknown>((resolve, reject) => {
        client.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          serialize(method.input),
          deserialize(method.output),
          create(method.input, input),
          metadataOf(header),
          { deadline: Date.now() + timeoutMs },
          (error, value) => (error === null ? resolve(value) : reject(connectErrorOf(error))),
        );
      });
      // The method's own schema made the message; the signature cannot say so.
      return { ...ANSWERED, stream: false, service: method.parent, method, message } as never;
    },
    stream: async (method, signal, _timeoutMs, header, inputs) => {
      const { value: input } = await inputs[Symbol.asyncIterator]().next();
      const call = client.makeServerStreamRequest(
        `/${method.parent.typeName}/${method.name}`,
        serialize(method.input),
        deserialize(method.output),
        create(method.input, input),
        metadataOf(header),
      );
      signal?.addEventListener("abort", () => call.cancel());
      return {
        ...ANSWERED,
        stream: true,
        service: method.parent,
        method,
        message: read(call),
        // As above.
      } as never;
    },
  };
  return { ...transport, close: () => client.close() };
}

const ANSWERED = { header: new Headers(), trailer: new Headers() } as const;

async function* read(call: AsyncIterable<unknown>): AsyncGenerator {
  try {
    yield* call;
  } catch (error) {
    // A grpc-js call fails with nothing else.
    throw connectErrorOf(error as ServiceError);
  }
}

function metadataOf(header: HeadersInit | undefined): Metadata {
  const metadata = new Metadata();
  new Headers(header).forEach((value, key) => metadata.set(key, value));
  return metadata;
}

/** The status as Connect reads it from the same trailers. */
function connectErrorOf({ code, details, metadata }: ServiceError): ConnectError {
  const trailers = new Headers({
    "grpc-status": String(code),
    "grpc-message": encodeURIComponent(details),
  });
  const [status] = metadata.get("grpc-status-details-bin");
  if (Buffer.isBuffer(status)) trailers.set("grpc-status-details-bin", status.toString("base64"));
  return findTrailerError(trailers) ?? new ConnectError("the call failed without a status");
}
