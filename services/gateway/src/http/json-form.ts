// The form of the users' JSON in answers. The header `pawl-json` chooses it: `bytes` is exact and cheapest, and our clients send it.
// `values` is readable. `both` is the default, for `curl`, `buf curl` and clients older than the header.

import type { Interceptor } from "@connectrpc/connect";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { invalidField } from "@pawl/core/fault/engine-error";
import { JSON_FORMS, type JsonForm, readable } from "@pawl/platform/wire/readable";

export const JSON_FORM_HEADER = "pawl-json";

/** @throws INPUT_INVALID for an unknown form */
export function checkJsonForm(header: string | null | undefined): JsonForm {
  if (header === null || header === undefined) return "both";
  const form = JSON_FORMS.find((known) => known === header);
  if (form !== undefined) return form;
  throw invalidField(JSON_FORM_HEADER, "UNKNOWN_FORM", `must be one of ${JSON_FORMS.join(", ")}`);
}

/** Gives every answer the form that its caller wants. */
export const connectJsonForm: Interceptor = (next) => async (request) => {
  const form = checkJsonForm(request.header.get(JSON_FORM_HEADER));
  const response = await next(request);
  const { output } = response.method;
  return response.stream
    ? { ...response, message: readableAll(output, response.message, form) }
    : { ...response, message: readable(output, response.message, form) };
};

async function* readableAll<Schema extends DescMessage>(
  schema: Schema,
  messages: AsyncIterable<MessageShape<Schema>>,
  form: JsonForm,
): AsyncGenerator<MessageShape<Schema>> {
  for await (const message of messages) yield readable(schema, message, form);
}
