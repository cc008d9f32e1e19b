// One watch of the program as a case sees it: the streams that the client opens and the lines that the program prints, each taken in order.
// A case takes everything, so what a client must drop is seen if it is delivered.

import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { must, textOf } from "../broken-rule.ts";
import type { WatchKit } from "./watch-kit.ts";
import type { EventInit, Printed, WatchStream } from "./watch-stream.ts";

interface WatchFacts {
  readonly runId: string;
  /** Whether a script plays the streams; otherwise the case takes each. */
  readonly isPlayed: boolean;
  /** How long the first stream may take. */
  readonly patienceMs: number | undefined;
}

export class Watching {
  readonly #kit: WatchKit;
  readonly #runId: string;
  readonly #isPlayed: boolean;
  readonly #patienceMs: number | undefined;
  #streamsTaken: number;
  #linesTaken: number;
  readonly #streamsBefore: number;
  readonly #strangeBefore: number;

  constructor(kit: WatchKit, facts: WatchFacts) {
    this.#kit = kit;
    this.#runId = facts.runId;
    this.#isPlayed = facts.isPlayed;
    this.#patienceMs = facts.patienceMs;
    this.#streamsTaken = this.#streamsBefore = kit.streams.things.length;
    this.#linesTaken = kit.lines.things.length;
    this.#strangeBefore = kit.strange.length;
  }

  /** The streams of this watch so far. */
  get streams(): readonly WatchStream[] {
    return this.#kit.streams.things.slice(this.#streamsBefore);
  }

  /** The next stream, which must resume after this event. */
  async stream(after: number): Promise<WatchStream> {
    const expected = `a stream after event ${after}`;
    const stream = await this.#streamAt(this.#streamsTaken, expected);
    this.#streamsTaken += 1;
    const { runId, afterEventId } = stream.request;
    must(runId === this.#runId, `a stream of the run ${this.#runId}`, runId);
    must(afterEventId === BigInt(after), expected, `after_event_id ${afterEventId}`);
    return stream;
  }

  /** The next lines, which must be exactly these events. */
  async delivers(events: readonly EventInit[]): Promise<void> {
    for (const event of events) {
      const wanted = printedOf(event);
      const expected = `the event ${textOf(wanted)}`;
      const line = await this.#line(expected);
      const fits = Object.entries(wanted).every(([key, value]) => line[key] === value);
      must(fits, expected, line);
    }
  }

  /** The next line, which must be the end. The client has opened no stream that the case does not know. */
  async end(): Promise<void> {
    const line = await this.#line("the end of the watch");
    must(line["end"] === true, "the end of the watch", line);
    this.#mustBeAll();
  }

  /** The next line, which must be the error of the watch. */
  async error(reason: string): Promise<void> {
    const expected = `an error with the reason ${reason}`;
    const line = await this.#line(expected);
    must(textOf(line["error"]) === textOf({ reason }), expected, line);
    this.#mustBeAll();
  }

  #mustBeAll(): void {
    const { strange, streams } = this.#kit;
    const others = strange.slice(this.#strangeBefore);
    must(others.length === 0, "calls of WatchRun and GetRun only", others);
    const more = this.#isPlayed ? [] : streams.things.slice(this.#streamsTaken);
    must(more.length === 0, "no further stream", `${more.length} more`);
  }

  async #streamAt(index: number, expected: string): Promise<WatchStream> {
    const { streams } = this.#kit;
    return await streams.until(
      () => {
        if (streams.things[index] === undefined) this.#kit.mustLive(expected);
        return streams.things[index];
      },
      expected,
      index === this.#streamsBefore ? this.#patienceMs : undefined,
    );
  }

  async #line(expected: string): Promise<Printed> {
    const { lines } = this.#kit;
    await this.#streamAt(this.#streamsBefore, "a first stream");
    const line = await lines.until(() => {
      if (lines.things[this.#linesTaken] === undefined) this.#kit.mustLive(expected);
      return lines.things[this.#linesTaken];
    }, expected);
    this.#linesTaken += 1;
    return line;
  }
}

/** An event as the program prints it. */
function printedOf(init: EventInit): Printed {
  const { eventId, type, nodeId, iteration, fact } = create(RunEventSchema, init);
  const envelope = { event_id: Number(eventId), type, node_id: nodeId, iteration };
  if (fact.case !== "nodeStreamDelta") return envelope;
  return { ...envelope, delta_index: fact.value.deltaIndex, text: fact.value.text };
}
