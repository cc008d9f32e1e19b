import { expect, test } from "vitest";
import {
  CAUSES,
  classField,
  classOf,
  currentCause,
  isCause,
  oldSpellingsIn,
  RETRY_CAUSES,
  retryRuleOf,
} from "./cause.ts";
import { FAILURE_CLASSES } from "./class.ts";

test("every cause is snake_case without a dot, and its meaning is a sentence", () => {
  for (const [cause, { means }] of Object.entries(CAUSES)) {
    expect(cause).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(means).toMatch(/^[A-Z].*\.$/);
  }
});

test("the causes a retry policy may name cover themselves", () => {
  for (const cause of RETRY_CAUSES) expect(retryRuleOf(cause)).toBe(cause);
});

test("every cause has one class, which agrees with its retry rule (S4.13)", () => {
  for (const [cause, row] of Object.entries(CAUSES)) {
    expect(Object.keys(FAILURE_CLASSES)).toContain(row.class);
    if (row.class === "retriable") expect(retryRuleOf(cause)).not.toBe("never");
    if (["permanent", "interrupt", "rollback", "cancelled"].includes(row.class))
      expect(retryRuleOf(cause)).toBe("never");
  }
});

test("a limit of the handler is no limit of Pawl, and each has its own word in retry_on (S4.13)", () => {
  const classes = ["timeout", "deadline_passed", "user_timeout", "query_timeout"].map((cause) =>
    classOf({ cause }),
  );
  expect(classes).toEqual(["timeout", "timeout", "user_timeout", "timeout"]);
  expect(retryRuleOf("timeout")).toBe("timeout");
  expect(retryRuleOf("user_timeout")).toBe("provider_error");
  expect(retryRuleOf("deadline_passed")).toBe("never");
});

test("a handler makes a retriable failure permanent, and no other class changes (S4.13)", () => {
  expect(classOf({ cause: "acme.declined" })).toBe("retriable");
  expect(classField("acme.declined", true)).toEqual({ failureClass: "permanent" });
  expect(classField("acme.declined", false)).toEqual({});
  for (const cause of ["timeout", "user_timeout", "cancelled", "input_invalid"])
    expect(classField(cause, true)).toEqual({});
  expect(classOf({ cause: "JS_ERROR" })).toBe("retriable");
});

test("an old spelling becomes the one of today, and a cause of a user stays as it is", () => {
  expect(currentCause("JS_ERROR")).toBe("js_error");
  for (const old of ["OUTPUT_TOO_LARGE", "RESULT_TOO_LARGE", "result_too_large"])
    expect(currentCause(old)).toBe("output_too_large");
  for (const own of ["card_declined", "acme.card_declined", "CARD_DECLINED", "toString"]) {
    expect(currentCause(own)).toBe(own);
    expect(isCause(own)).toBe(false);
    expect(retryRuleOf(own)).toBe("provider_error");
  }
  expect(retryRuleOf("CONFIG_INVALID")).toBe("never");
});

test("a definition gets the old spelling that it names, and the one of today if it names both", () => {
  const old = `ctx.nodes.a.error.cause == "URL_BLOCKED"`;
  expect(oldSpellingsIn(old)).toEqual({ url_blocked: "URL_BLOCKED" });
  expect(oldSpellingsIn(`${old} || ctx.nodes.a.error.cause == "url_blocked"`)).toBeUndefined();
  expect(oldSpellingsIn("MY_URL_BLOCKED url_blocked_by")).toBeUndefined();
  expect(oldSpellingsIn(`["RESULT_TOO_LARGE", "OUTPUT_TOO_LARGE"]`)).toEqual({
    output_too_large: "RESULT_TOO_LARGE",
  });
});
