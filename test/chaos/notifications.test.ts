import { expect, test } from "vitest";
import { ServerMessages } from "./notifications.ts";

const message = (type: string, body: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
};
const SAID = Buffer.concat([message("C", "COMMIT"), message("A", "news"), message("Z", "I")]);

test("notifications are lost and all else comes through, however the bytes are cut", () => {
  for (let at = 0; at <= SAID.length; at += 1) {
    const server = new ServerMessages();
    const parts = [SAID.subarray(0, at), SAID.subarray(at)].map((part) => server.take(part, true));
    const came = Buffer.concat(parts.map(({ bytes }) => bytes));
    expect(came).toEqual(Buffer.concat([message("C", "COMMIT"), message("Z", "I")]));
    expect(parts.reduce((sum, { lost }) => sum + lost, 0)).toBe(1);
  }
});

test("nothing is lost unless it is asked for", () => {
  expect(new ServerMessages().take(SAID, false)).toEqual({ bytes: SAID, lost: 0 });
});
