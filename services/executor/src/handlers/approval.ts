// `approval`: builds the question for a person and gives the claim back. The scheduler stores the question and takes the answer. The
// response schema and the default are for the scheduler and hold no templates.

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
