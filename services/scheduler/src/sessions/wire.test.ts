import { create } from "@bufbuild/protobuf";
import { OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { outcomeOf } from "./wire.ts";

test.each([
  ["JS_ERROR", "js_error"],
  ["RESULT_TOO_LARGE", "output_too_large"],
  ["acme.card_declined", "acme.card_declined"],
  ["", "provider_error"],
])("an executor that reports the cause %o enters the log with %o", (reported, logged) => {
  const failed = { cause: reported, message: "no" };
  const wire = create(OutcomeSchema, { result: { case: "failed", value: failed } });
  expect(outcomeOf(wire, 0)).toMatchObject({ kind: "failed", cause: logged });
});
