// `approval`: builds the question for a person and gives the claim back. The scheduler stores the question and records the answer. The
// response schema and the default are for the scheduler and hold no templates.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler, Question, withUnrendered } from "./handler.ts";

export const approvalHandler = withUnrendered(
  ["response_schema", "default"],
  defineHandler({
    type: "approval",
    config: NODE_CONFIGS.approval,
    run: (_input, { config }) => {
      const { message, details = null, assignees = [], deadline_ms: deadlineMs = 0 } = config;
      return new Question({ message, details, assignees, deadlineMs });
    },
  }),
);
