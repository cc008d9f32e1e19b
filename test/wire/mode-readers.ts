// Every kind of client that reads a run in modes, and what it saw in one shape: over the compiled contract, by reflection, with a plain
// fetch, and as Server-Sent Events.
import { ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import {
  fromWireStreamMode,
  STREAM_MODES,
  type StreamMode,
  toWireStreamMode,
} from "@pawl/platform/wire/stream-item";
import { bufCurl } from "./buf-curl.ts";
import type { Stage } from "./stage.ts";

/** An item as any reader sees it. An item of the mode debug has the type and the node of its event. */
export type SeenItem = { readonly id: number; readonly mode: string; readonly data: unknown };

type Filters = { readonly nodeIds?: string[]; readonly nodeTypes?: string[] };

export type ModeReader = (
  runId: string,
  after: number,
  modes: readonly ModeName[],
  filters?: Filters,
) => Promise<SeenItem[]>;

export type ModeName = StreamMode;
export const MODES = STREAM_MODES;

/** All of them, by name. */
export const modeReaders = (stage: Stage): ReadonlyMap<string, ModeReader> =>
  new Map<string, ModeReader>([
    ...stage.doors.map(({ name, events }) => [name, compiled(events)] as const),
    ...(["grpc", "grpcweb", "connect"] as const).map(
      (protocol) => [`buf curl --protocol ${protocol}`, reflected(stage.url, protocol)] as const,
    ),
    ["SSE", sse(stage.url)],
  ]);

const compiled =
  (events: Stage["doors"][number]["events"]): ModeReader =>
  async (runId, after, modes, filters) => {
    const request = {
      runId,
      afterEventId: BigInt(after),
      modes: modes.map(toWireStreamMode),
      ...filters,
    };
    const seen: SeenItem[] = [];
    for await (const { items } of events.watchRun(request))
      for (const { eventId, mode, event, dataJson } of items) {
        const data: unknown =
          event === undefined
            ? JSON.parse(new TextDecoder().decode(dataJson))
            : { type: event.type, nodeId: event.nodeId };
        seen.push({ id: Number(eventId), mode: fromWireStreamMode(mode) ?? "", data });
      }
    return seen;
  };

type JsonItem = {
  readonly eventId: string;
  readonly mode: string;
  readonly data?: unknown;
  readonly event?: { readonly type: string; readonly nodeId?: string };
};

const reflected =
  (url: string, protocol: "grpc" | "grpcweb" | "connect"): ModeReader =>
  async (runId, afterEventId, modes, filters) => {
    const body = {
      ...{ runId, afterEventId, ...filters },
      modes: modes.map((mode) => `STREAM_MODE_${mode.toUpperCase()}`),
    };
    const method = `${url}/pawl.v1.EventService/WatchRun`;
    const seen: SeenItem[] = [];
    for await (const message of bufCurl(method, { protocol, body, header: "pawl-json: values" })) {
      const { items = [] } = message as { readonly items?: readonly JsonItem[] };
      for (const { eventId, mode, data, event } of items)
        seen.push({
          id: Number(eventId),
          mode: mode.replace("STREAM_MODE_", "").toLowerCase(),
          data: event === undefined ? data : { type: event.type, nodeId: event.nodeId ?? "" },
        });
    }
    return seen;
  };

/** The address of a run in modes. */
const modesPath = (
  runId: string,
  modes: readonly string[],
  { nodeIds = [], nodeTypes = [] }: Filters = {},
): string =>
  `/execute/workflows/${runId}/events?modes=${modes.join()}&nodes=${nodeIds.join()}&nodeTypes=${nodeTypes.join()}`;

const sse =
  (url: string): ModeReader =>
  async (runId, after, modes, filters) => {
    const response = await fetch(`${url}${modesPath(runId, modes, filters)}`, {
      headers: { "Last-Event-ID": String(after) },
    });
    const body = await response.text();
    if (!response.ok)
      throw errorFromJsonBytes(Buffer.from(body), undefined, new ConnectError(body));
    return body.split("\n\n").flatMap(itemOfFrame);
  };

type Envelope = {
  readonly eventId: number;
  readonly mode: string;
  readonly data: { readonly type: string; readonly nodeId: string };
};

function itemOfFrame(frame: string): SeenItem[] {
  const json = /^data: (.*)$/m.exec(frame)?.[1];
  if (json === undefined) return [];
  const { eventId: id, mode, data } = JSON.parse(json) as Envelope;
  const { type, nodeId } = data;
  return [{ id, mode, data: mode === "debug" ? { type, nodeId } : data }];
}
