// The demo judges itself: its verdict must be able to say no.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { newRecovery, notice, sentenceOf, verdict } from "@pawl/deploy/demo/recovery.ts";

type Fact = MessageInitShape<typeof RunEventSchema>;

const begin: Fact = { type: "node.started", fact: { case: "nodeStarted", value: {} } };
const end: Fact = { type: "node.completed", fact: { case: "nodeCompleted", value: {} } };
const over: Fact = { type: "run.completed", fact: { case: "runCompleted", value: {} } };
const piece = (epoch: bigint, text: string): Fact => ({
  type: "node.stream.delta",
  epoch,
  fact: { case: "nodeStreamDelta", value: { text } },
});

function setup(facts: readonly Fact[], ids = facts.map((_, index) => BigInt(index + 1))) {
  const recovery = newRecovery();
  const kills = facts.map((fact, index) => {
    const nodeId = fact.type?.startsWith("run.") === true ? "" : "story";
    const eventId = ids[index] ?? 0n;
    return notice(recovery, create(RunEventSchema, { nodeId, eventId, ...fact }), index * 1_000);
  });
  const judge = (output = "ab", charges = 1) =>
    verdict(recovery, { output, charges }).map(({ isKept }) => isKept);
  return { kills, judge, recovery };
}

const LOST = [begin, piece(1n, "a"), begin, piece(3n, "a"), piece(3n, "b"), end, over];

test("a run that lost its executor and came through keeps every promise", () => {
  expect(setup(LOST).judge()).toEqual([true, true, true, true, true]);
});

test("the verdict reports each broken promise", () => {
  expect(setup(LOST).judge("aab")[3]).toBe(false);
  expect(setup(LOST).judge("ab", 2)[4]).toBe(false);
  expect(setup(LOST, [1n, 2n, 3n, 4n, 4n, 5n, 6n]).judge()[1]).toBe(false);
  expect(setup([...LOST.slice(0, -1), end, over]).judge()[2]).toBe(false);
  expect(setup([begin, piece(1n, "ab"), end, over]).judge()[2]).toBe(false);
  expect(setup(LOST.slice(0, -1)).judge()[0]).toBe(false);
});

test("the executor is killed once, in the middle of the story", () => {
  const { kills, recovery } = setup([begin, ...Array.from({ length: 90 }, () => piece(1n, "x"))]);
  expect(kills.filter(Boolean)).toHaveLength(1);
  expect(kills.indexOf(true)).toBe(45);
  expect(recovery.killedMs).toBe(45_000);
});

test("the demo has a sentence for events that matter to a person, and none for the rest", () => {
  const lost = create(RunEventSchema, {
    nodeId: "story",
    fact: {
      case: "runRecovered",
      value: { reason: "stream_broken", executorId: "01a1-00000cf7e970" },
    },
  });
  expect(sentenceOf(lost)).toBe(
    "the scheduler takes the claim of executor 0cf7e970 back (stream_broken)",
  );
  expect(sentenceOf(create(RunEventSchema, { nodeId: "end", ...begin }))).toBeUndefined();
});
