// A collector of OTLP over gRPC. It keeps the bytes of each export: names of spans and services are plain text in them.
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

const bytes = (buffer: Buffer): Buffer => buffer;

const method = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});

/** Starts the collector on a free port. */
export async function startGrpcReceiver() {
  const texts: string[] = [];
  const server = new Server();
  server.addService(
    { Export: method("/opentelemetry.proto.collector.trace.v1.TraceService/Export") },
    {
      Export: (
        { request }: { readonly request: Buffer },
        answer: (error: null, value: Buffer) => void,
      ) => {
        texts.push(request.toString("latin1"));
        answer(null, Buffer.alloc(0));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${LOOPBACK}:0`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return {
    url: `http://${LOOPBACK}:${port}`,
    /** Everything that was exported. */
    text: () => texts.join(""),
    stop: () => server.forceShutdown(),
  };
}
