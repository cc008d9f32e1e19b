import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import {
  AssignmentSchema,
  CompletedSchema,
  OutcomeSchema,
  SchedulerItemSchema,
  SettledSchema,
  WorkerItemSchema,
  WorkerService,
  WorkRequestSchema,
  WorkResponseSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyInit } from "./any-message.fixture.ts";
import { grpcDefinition } from "./grpc-definition.ts";
import { type Codec, WORK_CODECS } from "./work-codec.ts";

fc.configureGlobal({ seed: 1 });

type Init = Record<string, unknown>;

/** An item of one case; the value is drawn whole, so that it is seldom empty. */
const itemOf = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Init> =>
  value.map((each) => ({ item: { case: name, value: each } }));
/** An outcome of the kind that is coded by hand, unless its text or numbers are odd. */
const completedOutcome = fc
  .tuple(anyInit(OutcomeSchema), anyInit(CompletedSchema))
  .map(([outcome, { usage: _usage, ...value }]) => ({
    ...outcome,
    gates: [],
    result: { case: "completed", value },
  }));

const SIDES: readonly {
  readonly schema: DescMessage;
  readonly item: DescMessage;
  readonly hot: readonly fc.Arbitrary<Init>[];
}[] = [
  {
    schema: WorkResponseSchema,
    item: SchedulerItemSchema,
    hot: [
      itemOf("assignment", anyInit(AssignmentSchema)),
      itemOf("settled", anyInit(SettledSchema)),
    ],
  },
  {
    schema: WorkRequestSchema,
    item: WorkerItemSchema,
    hot: [itemOf("outcome", completedOutcome), itemOf("outcome", anyInit(OutcomeSchema))],
  },
];

function codecOf({ typeName }: DescMessage): Codec {
  const codec = WORK_CODECS.get(typeName);
  if (codec === undefined) throw new Error(`no codec for ${typeName}`);
  return codec;
}

const plain = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
/** As protobuf-es reads it. */
const read = (schema: DescMessage, bytes: Uint8Array): Message =>
  fromBinary(schema, plain(bytes), { readUnknownFields: false });
/** As protobuf-es writes it. */
const write = (schema: DescMessage, init: Init): Buffer =>
  Buffer.from(toBinary(schema, create(schema, init as never)));

/** The names in every object, in their order. */
function namesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesIn);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return null;
  return Object.entries(value).map(([name, each]) => [name, namesIn(each)]);
}

/** What a call gave, or the words it refused with. */
function outcomeOf(
  call: () => Message,
): { readonly message: Message } | { readonly refused: string } {
  try {
    return { message: call() };
  } catch (error) {
    return { refused: String(error) };
  }
}

/** The same message with the same names in the same order, or the same refusal. */
function expectSameReading(schema: DescMessage, bytes: Uint8Array): void {
  const ours = outcomeOf(() => codecOf(schema).deserialize(Buffer.from(bytes)));
  const theirs = outcomeOf(() => read(schema, Buffer.from(bytes)));
  expect(ours).toStrictEqual(theirs);
  expect(namesIn(ours)).toEqual(namesIn(theirs));
}

/** A field with its length before it. */
function framed(number: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length, rest]), content]);
}

describe.each(SIDES)("$schema.name", ({ schema, item, hot }) => {
  const codec = codecOf(schema);
  const anyItems = fc.array(fc.oneof(anyInit(item), ...hot), { maxLength: 5 });
  const anyBytes = anyItems.map((items) => write(schema, { items }));

  test("is written as the bytes that protobuf-es writes, from init objects and whole messages", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const whole = create(schema, { items });
        const bytes = toBinary(schema, whole);
        // What is serialized may be an init object, which has no type name.
        expect(plain(codec.serialize({ items } as never))).toEqual(bytes);
        expect(plain(codec.serialize(whole))).toEqual(bytes);
      }),
      { numRuns: 200 },
    );
  });

  test("is read as the message that protobuf-es reads, names in the same order", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => expectSameReading(schema, bytes)),
      { numRuns: 200 },
    );
  });

  test("comes back as it was", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const back = codec.deserialize(codec.serialize({ items } as never));
        expect(back).toStrictEqual(read(schema, write(schema, { items })));
      }),
    );
  });

  test("is read or refused as protobuf-es does where bytes of it are others, missing or too many", () => {
    const change = fc.record({
      at: fc.nat(),
      gone: fc.nat({ max: 3 }),
      added: fc.uint8Array({ maxLength: 3 }),
    });
    fc.assert(
      fc.property(anyBytes, fc.array(change, { minLength: 1, maxLength: 2 }), (bytes, changes) => {
        const damaged = changes.reduce((before, { at, gone, added }) => {
          const place = at % (before.length + 1);
          return Buffer.concat([before.subarray(0, place), added, before.subarray(place + gone)]);
        }, bytes);
        expectSameReading(schema, damaged);
      }),
      { numRuns: 1_500 },
    );
  });

  test("is read or refused as protobuf-es does wherever it is cut off", () => {
    fc.assert(
      fc.property(fc.tuple(...hot), (items) => {
        const bytes = write(schema, { items });
        for (let end = 0; end < Math.min(bytes.length, 500); end += 1)
          expectSameReading(schema, bytes.subarray(0, end));
      }),
      { numRuns: 10 },
    );
  });

  test("is read as protobuf-es does where a field comes twice, late or from another build", () => {
    const unknown = framed(15, Buffer.from("new"));
    const anyParts = fc.array(fc.oneof(anyItems, fc.constant(unknown)), { maxLength: 4 });
    fc.assert(
      fc.property(anyParts, (parts) => {
        const contents = parts.map((part) =>
          Buffer.isBuffer(part) ? part : Buffer.concat(part.map((each) => write(item, each))),
        );
        expectSameReading(schema, Buffer.concat([framed(1, ...contents), unknown]));
        expectSameReading(schema, framed(1, ...contents));
      }),
    );
  });

  test("is read or refused as protobuf-es does however deep groups of another build lie in it", () => {
    for (let depth = 90; depth < 110; depth += 1) {
      // Field 15, opened and closed again.
      const groups = Buffer.concat([Buffer.alloc(depth, 0x7b), Buffer.alloc(depth, 0x7c)]);
      expectSameReading(schema, framed(1, groups));
      expectSameReading(schema, groups);
    }
  });

  test("a large one is written as any other, and nothing written before or after changes", () => {
    const items = [{}, {}, {}];
    const small = codec.serialize({ items } as never);
    const large = write(schema, { items: Array.from({ length: 100_000 }, () => ({})) });
    const message = read(schema, large);
    const first = codec.serialize(message);
    const second = codec.serialize({ items } as never);
    expect(first.equals(large)).toBe(true);
    expect(second.equals(small)).toBe(true);
    expect(small.equals(write(schema, { items }))).toBe(true);
  });
});

describe("what is said by hand", () => {
  const response = codecOf(WorkResponseSchema);
  const claim = { runId: "r", nodeId: "n", iteration: 0, epoch: 1n };
  const said = (value: Init) => ({ items: [{ item: { case: "assignment", value } }] });

  test.each([
    ["a negative number", said({ attempt: -1 })],
    ["a fraction", said({ attempt: 1.5 })],
    ["a number beyond 32 bits", said({ attempt: 2 ** 32 })],
    ["a negative 64-bit number", said({ claim: { ...claim, epoch: -1n } })],
    ["a number beyond 64 bits", said({ claim: { ...claim, epoch: 2n ** 64n } })],
    ["bytes that are none", said({ nodeJson: "text" })],
  ])("%s is refused with the words of protobuf-es", (_, init) => {
    const words = (call: () => unknown): string => {
      try {
        call();
        return "taken";
      } catch (error) {
        return String(error);
      }
    };
    const theirs = words(() => write(WorkResponseSchema, init));
    expect(theirs).not.toBe("taken");
    expect(words(() => response.serialize(init as never))).toBe(theirs);
  });

  test("keeps the fields of another build, wherever they stand", () => {
    const unknown = framed(15, Buffer.from("new"));
    const assignment = toBinary(AssignmentSchema, create(AssignmentSchema, { claim }));
    for (const bytes of [
      framed(1, framed(2, assignment, unknown)),
      framed(1, framed(2, framed(1, unknown))),
      framed(1, framed(2, assignment), unknown),
      Buffer.concat([framed(1, framed(2, assignment)), unknown]),
    ])
      expect(response.serialize(fromBinary(WorkResponseSchema, bytes)).equals(bytes)).toBe(true);
  });

  test("a number of more than its 32 bits is read as protobuf-es reads it", () => {
    // Attempt 2^32 + 5, behind a claim.
    const attempt = Buffer.from([16, 0x85, 0x80, 0x80, 0x80, 0x10]);
    expectSameReading(WorkResponseSchema, framed(1, framed(2, framed(1), attempt)));
  });

  test("a long context, name and output have lengths as long as they need", () => {
    for (const length of [100, 127, 128, 16_200, 16_383, 16_384, 2 ** 21]) {
      const long = { ...claim, nodeId: "n".repeat(Math.min(length, 300)) };
      const init = said({ claim: long, contextJson: new Uint8Array(length) });
      const bytes = response.serialize(init as never);
      expect(bytes.equals(write(WorkResponseSchema, init))).toBe(true);
      expectSameReading(WorkResponseSchema, bytes);
    }
  });
});

test("the work stream is coded by hand on both of its sides", () => {
  const work = grpcDefinition(WorkerService)["work"];
  expect(work?.requestSerialize).toBe(codecOf(WorkRequestSchema).serialize);
  const bytes = codecOf(WorkRequestSchema).serialize(create(WorkRequestSchema));
  expect(work?.requestDeserialize(bytes)).toEqual(codecOf(WorkRequestSchema).deserialize(bytes));
  expect(work?.responseSerialize).toBe(codecOf(WorkResponseSchema).serialize);
  expect(work?.responseDeserialize).toBe(codecOf(WorkResponseSchema).deserialize);
});
