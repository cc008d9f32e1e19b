import { expect, test } from "vitest";
import { carriedHeaders, checkHeaders } from "./headers.ts";

test.each([
  ["x", "a\r\nEvil: 1"],
  ["x", "a\nb"],
  ["x", "a\u0000b"],
  ["x\r\nEvil", "1"],
])("a line break or control character in a header is header_injection (T14)", (name, value) => {
  expect(checkHeaders({ [name]: value })).toMatchObject({ ok: false, cause: "header_injection" });
});

test.each(["Host", "Content-Length", "transfer-encoding", "Connection", "a b", ""])(
  "the header %j may not be set by a workflow",
  (name) => {
    expect(checkHeaders({ [name]: "x" })).toMatchObject({ ok: false, cause: "config_invalid" });
  },
);

test("names are lower-cased and values kept", () => {
  expect(checkHeaders({ "X-Token": "é ok" })).toEqual({ ok: true, headers: { "x-token": "é ok" } });
});

test("text that is not latin1, and too much of anything, is refused", () => {
  expect(checkHeaders({ a: "€" }).ok).toBe(false);
  expect(checkHeaders({ a: "x".repeat(9_000) }).ok).toBe(false);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, "x"]));
  expect(checkHeaders(many).ok).toBe(false);
});

test("nothing that could be a credential is carried to another host (U13)", () => {
  const carried = carriedHeaders({
    authorization: "a",
    cookie: "b",
    "x-api-key": "c",
    accept: "d",
  });
  expect(carried).toEqual({ accept: "d" });
});
