// `approval`: says what a person is asked, and gives the claim back. The scheduler keeps the question and takes the answer; the
// schema of the response and the default are its business, and no templates.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler } from "./handler.ts";

export const approvalHandler = defineHandler({
  type: "approval",
  config: NODE_CONFIGS.approval,
  unrendered: ["response_schema", "default"],
  execute: ({ message, details = null, assignees = [], deadline_ms: deadlineMs = 0 }) => ({
    ask: { message, details, assignees, deadlineMs },
  }),
});
