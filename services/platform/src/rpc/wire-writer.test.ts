import { expect, test } from "vitest";
import { WireWriter } from "./wire-writer.ts";

const TAG = 10;

test("text that is not ASCII is odd wherever it comes to stand in the buffer", () => {
  // Around the buffer's end, where it would be cut to the length of ASCII if there were no room for all of it.
  for (let filled = 65_300; filled < 65_600; filled += 1) {
    const writer = new WireWriter();
    writer.message(TAG, new Uint8Array(filled));
    writer.text(TAG, "ü".repeat(40));
    expect(writer.isOdd).toBe(true);
  }
});

test("what is written across the buffer's end is whole", () => {
  const text = "a".repeat(40);
  for (let filled = 65_300; filled < 65_600; filled += 1) {
    const writer = new WireWriter();
    writer.message(TAG, new Uint8Array(filled));
    const start = writer.at;
    writer.text(TAG, text);
    writer.uint64(TAG, 2n ** 53n - 1n);
    expect(writer.finish().subarray(start).toString("latin1")).toBe(
      `\n(${text}\n${"\xff".repeat(7)}\x0f`,
    );
  }
});

test("messages whose lengths were guessed too short are whole, also at the buffer's end", () => {
  for (let filled = 65_200; filled < 65_600; filled += 1) {
    const writer = new WireWriter();
    writer.message(TAG, new Uint8Array(filled));
    const start = writer.at;
    const opened = [1, 1, 1].map((width) => writer.open(TAG, width));
    writer.message(TAG, new Uint8Array(200));
    writer.uint64(TAG, 2n ** 53n - 1n);
    for (const each of opened.toReversed()) writer.close(each, 1);
    const end = [TAG, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    expect([...writer.finish().subarray(start).subarray(-9)]).toEqual(end);
  }
});

test("what was rewound leaves no trace", () => {
  const writer = new WireWriter();
  writer.uint32(TAG, 1);
  const mark = writer.at;
  writer.text(TAG, "ü");
  writer.rewind(mark);
  expect(writer.isOdd).toBe(false);
  expect([...writer.finish()]).toEqual([TAG, 1]);
});
