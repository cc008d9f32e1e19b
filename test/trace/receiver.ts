// A collector of traces: it keeps the exports of services over OTLP/HTTP as flat spans.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { z } from "zod";

const attributeSchema = z.object({
  key: z.string(),
  value: z.object({
    stringValue: z.string().optional(),
    intValue: z.union([z.number(), z.string()]).optional(),
  }),
});
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(""),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(attributeSchema).default([]),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

/** A span, with the service it came from. */
export type Span = Omit<z.output<typeof spanSchema>, "attributes"> & {
  readonly service: string;
  readonly attributes: Readonly<Record<string, string>>;
};

/** A listening collector. */
export type Receiver = {
  readonly url: string;
  readonly spans: readonly Span[];
  /** Paths that were posted to. */
  readonly paths: ReadonlySet<string>;
  stop(): Promise<void>;
};

/** Starts a collector on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const spans: Span[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    paths.add(request.url ?? "");
    const answer = (status: number): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end("{}");
    void bodyOf(request).then(
      (body) => {
        spans.push(...spansOf(body));
        answer(200);
      },
      () => answer(400),
    );
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${port}`,
    spans,
    paths,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set, so chunks are buffers
  const body = Buffer.concat(chunks);
  const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  return JSON.parse(text.toString("utf8"));
}

function spansOf(body: unknown): Span[] {
  return exportSchema.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = plain(resource.attributes)["service.name"] ?? "";
    return scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({ ...span, service, attributes: plain(span.attributes) }));
  });
}

const plain = (attributes: readonly z.output<typeof attributeSchema>[]): Record<string, string> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue ?? "")]),
  );
