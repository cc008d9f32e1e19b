// Scripted events for tests, and the view that the console folds of them.

import { fromWire } from "@pawl/client";
import { type RunView, view } from "@pawl/core/log/view";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type RunEvent, RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";

type Init = MessageInitShape<typeof RunEventSchema>;
type Fact = NonNullable<Init["fact"]>;

/** The view of a log. */
export const viewOf = (events: readonly RunEvent[]): RunView =>
  view(events.flatMap((event) => fromWire(event) ?? []));

/** Builds a log: each call appends the next event, ten milliseconds after the one before unless `at` says otherwise. */
export function scriptLog(): {
  readonly events: RunEvent[];
  readonly add: (
    type: string,
    nodeId: string,
    fact: Fact,
    more?: { attempt?: number; epoch?: bigint; at?: number },
  ) => void;
} {
  const events: RunEvent[] = [];
  return {
    events,
    add(type, nodeId, fact, { attempt = nodeId === "" ? 0 : 1, epoch = 0n, at } = {}) {
      const eventId = BigInt(events.length + 1);
      const time = timestampFromMs(at ?? 1000 + events.length * 10);
      events.push(
        create(RunEventSchema, {
          eventId,
          runId: "run",
          type,
          nodeId,
          attempt,
          epoch,
          time,
          fact,
        }),
      );
    },
  };
}

/** The bytes of a value's JSON. */
export const jsonBytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(value));
