// The host's side of one session, over as many streams as a case wants. It numbers, acknowledges and checks: every message of the process must
// keep the rules of the queues, whatever the case is about.

import { create, equals } from "@bufbuild/protobuf";
import {
  type Hello,
  type HostItem,
  HostItemSchema,
  type Limits,
  LimitsSchema,
  type ProcessItem,
  ProcessItemSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { BrokenRule, textOf } from "./broken-rule.ts";
import type { Arrived, HostStream, ResponseInit } from "./host-stream.ts";
import { Mailbox } from "./mailbox.ts";

export type HostItemInit = MessageInitShape<typeof HostItemSchema>["item"];
type Kind = NonNullable<ProcessItem["item"]["case"]>;
type Values = { [Item in ProcessItem["item"] as NonNullable<Item["case"]>]: Item["value"] };
type ValueOf<K extends Kind> = NonNullable<Values[K]>;

/** The settings of a session that a case may change. */
export interface SessionSettings {
  readonly limits?: MessageInitShape<typeof LimitsSchema>;
  readonly silenceMs?: number;
  readonly resumeMs?: number;
  /** Whether the host acknowledges every message at once; default true. */
  readonly acknowledges?: boolean;
}

const LIMITS = {
  outputBytes: 262_144n,
  effectBytes: 262_144n,
  partialBytes: 16_384n,
  windowBytes: 1_048_576n,
  logBytes: 16_384n,
  logLines: 1_000,
  messageBytes: 1_048_576n,
  failureBytes: 65_536n,
};

/** An item with its number. */
export interface Numbered {
  readonly seq: number;
  readonly item: ProcessItem["item"];
}

export class HostSession {
  readonly hello: Hello;
  readonly limits: Limits;
  /** Every item of the process once, in order. */
  readonly items = new Mailbox<Numbered>();
  /** How many messages repeated an item. */
  repeats = 0;
  readonly #settings: SessionSettings;
  readonly #sent: HostItem[] = [];
  stream: HostStream;
  #processHeard = 0;
  #isFirst = true;
  /** Items up to this number have been acknowledged to the process. */
  #acknowledged = 0;
  #fault: BrokenRule | undefined;

  constructor(stream: HostStream, hello: Hello, settings: SessionSettings) {
    this.hello = hello;
    this.#settings = settings;
    this.stream = stream;
    this.limits = create(LimitsSchema, { ...LIMITS, ...settings.limits });
    this.carry(stream, false);
  }

  /** How many items the kit has sent. */
  get sentSeq(): number {
    return this.#sent.length;
  }

  /** The highest number of the kit's items that the process has. */
  get processHeard(): number {
    return this.#processHeard;
  }

  get heardSeq(): number {
    return this.items.things.length;
  }

  /** Answers the opening of a stream with Welcome, and sends again what the process does not have. */
  carry(stream: HostStream, isResume: boolean): void {
    this.stream = stream;
    this.#isFirst = true;
    const { silenceMs = 15_000, resumeMs = 3_000 } = this.#settings;
    const follow = (): void => {
      while (seen < stream.arrived.things.length) {
        const next = stream.arrived.things[seen];
        seen += 1;
        if (next !== undefined && this.stream === stream) this.#take(next);
      }
    };
    let seen = 0;
    stream.arrived.onAdd = follow;
    follow();
    this.#acknowledged = this.#settings.acknowledges === false ? this.#acknowledged : this.heardSeq;
    const welcome = {
      hostId: "kit",
      resumed: isResume,
      pingMs: 5_000n,
      silenceMs: BigInt(silenceMs),
      resumeMs: BigInt(resumeMs),
      limits: this.limits,
    };
    stream.write({
      opening: { case: "welcome", value: welcome },
      heardSeq: BigInt(this.#acknowledged),
      ...this.#from(this.#processHeard + 1),
    });
  }

  /** Sends items in one message, and gives the number of the first. */
  send(...items: HostItemInit[]): number {
    const firstSeq = this.#sent.length + 1;
    for (const item of items) this.#sent.push(create(HostItemSchema, item ? { item } : {}));
    this.stream.write({ ...this.#from(firstSeq), heardSeq: BigInt(this.#acknowledged) });
    return firstSeq;
  }

  /** Numbers items without sending them: as if the message was lost with its connection. */
  keepBack(...items: HostItemInit[]): void {
    for (const item of items) this.#sent.push(create(HostItemSchema, item ? { item } : {}));
  }

  /** Sends the items from a number on, again or for the first time. */
  sendFrom(seq: number): void {
    this.stream.write({ ...this.#from(seq), heardSeq: BigInt(this.#acknowledged) });
  }

  /** Tells the process that the kit has everything that has arrived. */
  acknowledge(): void {
    this.#acknowledged = this.heardSeq;
    this.stream.write({ heardSeq: BigInt(this.#acknowledged) });
  }

  /** The value of the first item of a kind about an invocation. */
  async item<K extends Kind>(
    kind: K,
    invocationId: string,
    withinMs?: number,
  ): Promise<ValueOf<K>> {
    return await this.find(
      (item) => valueOf(item, kind, invocationId),
      `${kind} of ${invocationId}`,
      withinMs,
    );
  }

  async find<Found>(
    pick: (item: ProcessItem["item"]) => Found | undefined,
    expected: string,
    withinMs?: number,
  ): Promise<Found> {
    return await this.items.find(
      ({ item }) => {
        this.check();
        return pick(item);
      },
      expected,
      withinMs,
    );
  }

  /** Everything of one kind so far. */
  all<K extends Kind>(kind: K, invocationId: string): readonly ValueOf<K>[] {
    return this.items.things.flatMap(({ item }) => valueOf(item, kind, invocationId) ?? []);
  }

  /** Settles when the process has everything that was sent. */
  async allHeard(withinMs?: number): Promise<void> {
    await this.stream.arrived.until(
      () => (this.#processHeard >= this.#sent.length ? true : undefined),
      `heard_seq ${this.#sent.length}`,
      withinMs,
    );
  }

  /** Fails if the process broke a rule of the queues so far. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  #from(seq: number): Pick<ResponseInit, "firstSeq" | "items"> {
    const items = this.#sent.slice(seq - 1);
    return items.length === 0 ? {} : { firstSeq: BigInt(seq), items };
  }

  #take({ message, bytes }: Arrived): void {
    const { opening, items } = message;
    const firstSeq = Number(message.firstSeq);
    if (this.#isFirst !== (opening.case !== undefined))
      this.#broken("Q1", "hello or resume in the first message and only there", opening.case);
    this.#isFirst = false;
    if (bytes > Number(this.limits.messageBytes))
      this.#broken("P11", `at most ${this.limits.messageBytes} bytes in a message`, bytes);
    const heard = Number(message.heardSeq);
    if (heard > this.#sent.length || heard < this.#processHeard)
      this.#broken("Q4", `heard_seq from ${this.#processHeard} to ${this.#sent.length}`, heard);
    this.#processHeard = Math.max(this.#processHeard, heard);
    if (items.length === 0) return this.items.changed();
    if (firstSeq < 1 || firstSeq > this.heardSeq + 1)
      this.#broken("Q2", `items from the number ${this.heardSeq + 1} on`, firstSeq);
    for (const [index, item] of items.entries()) this.#number(firstSeq + index, item);
    if (this.#settings.acknowledges !== false) this.acknowledge();
    this.items.changed();
  }

  #number(seq: number, item: ProcessItem): void {
    const had = this.items.things[seq - 1];
    if (had === undefined) {
      this.items.add({ seq, item: item.item });
      return;
    }
    this.repeats += 1;
    if (seq <= this.#acknowledged)
      this.#broken("Q5", `nothing again up to ${this.#acknowledged}, which the host has`, seq);
    const before = create(ProcessItemSchema, had.item.case ? { item: had.item } : {});
    if (!equals(ProcessItemSchema, before, item))
      this.#broken("Q5", `item ${seq} again as before: ${textOf(had.item)}`, item.item);
  }

  #broken(rule: string, expected: string, came: unknown): void {
    this.#fault ??= new BrokenRule(expected, textOf(came), rule);
  }
}

/** The invocation that an item is about; undefined if it is about none. */
export const aboutOf = ({ value }: ProcessItem["item"]): string | undefined =>
  value !== undefined && "invocationId" in value ? value.invocationId : undefined;

/** The value of an item of this kind about this invocation. */
function valueOf<K extends Kind>(
  item: ProcessItem["item"],
  kind: K,
  invocationId: string,
): ValueOf<K> | undefined {
  if (item.case !== kind || (aboutOf(item) ?? invocationId) !== invocationId) return undefined;
  // The case decides the type; the compiler cannot see it through the generic.
  return item.value as ValueOf<K>;
}
