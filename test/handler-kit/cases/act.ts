// Actions and memory: what the function asks of the engine travels with its Result, and it reads the memory of its Invoke.

import { type MessageInitShape, create, toJsonString } from "@bufbuild/protobuf";
import { ActionSchema } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { must } from "../broken-rule.ts";
import type { Case, Group } from "../case.ts";
import { echo, invoke } from "../kit.ts";

type Action = NonNullable<MessageInitShape<typeof ActionSchema>["action"]>;

/** JSON texts of the same value are the same action. */
const textOf = (action: Action): string =>
  toJsonString(ActionSchema, create(ActionSchema, { action })).replaceAll(/\s/g, "");

const sends = (ask: string, expected: Action): Case => ({
  name: `${ask} is the action ${expected.case} of the Result`,
  rule: "P19",
  run: async (kit) => {
    const session = await kit.open();
    const id = invoke(session, "kit.act@1", { asks: [ask] });
    const { actions } = await session.item("result", id);
    const came = actions.map(({ action }) => textOf(action));
    must(came.join() === textOf(expected), textOf(expected), came);
  },
});

const remembered: Action = {
  case: "updateMemory",
  value: { valuesJson: '{"city":"Oslo","count":2}' },
};

export const ACT: Group = {
  name: "act",
  cases: [
    sends("remember", remembered),
    sends("set_status", {
      case: "setStatus",
      value: { status: "completed", message: "done", outputJson: '{"ok":true}' },
    }),
    sends("goto", { case: "gotoNode", value: { node: "next", reason: "again" } }),
    sends("hand_off_node", { case: "handoff", value: { node: "next", reason: "busy" } }),
    sends("hand_off_workflow", {
      case: "handoff",
      value: { workflow: "billing", version: 2, inputJson: '{"n":1}' },
    }),
    sends("ask_human", {
      case: "requestHumanInput",
      value: {
        message: "Ship it?",
        detailsJson: '{"n":1}',
        assignees: ["ada"],
        deadlineMs: 60_000n,
      },
    }),
    sends("answer_human", {
      case: "resumeFromHuman",
      value: { node: "review", decision: "approve", responseJson: '{"ok":true}', comment: "fine" },
    }),
    sends("merge_results", {
      case: "mergeParallelResults",
      value: { keys: ["a", "b"], into: "all", strategy: "array" },
    }),
    {
      name: "the memory comes before the other actions",
      rule: "P19",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.act@1", { asks: ["merge_results", "remember"] });
        const { actions } = await session.item("result", id);
        const cases = actions.map(({ action }) => action.case);
        must(cases.join() === "updateMemory,mergeParallelResults", "the memory first", cases);
      },
    },
    {
      name: "a handler that asks for nothing sends no actions",
      rule: "P19",
      run: async (kit) => {
        const session = await kit.open();
        const { actions } = await session.item(
          "result",
          invoke(session, "kit.act@1", { asks: [] }),
        );
        must(actions.length === 0, "no actions", actions.length);
      },
    },
    {
      name: "a value that is no JSON is a permanent action_invalid",
      rule: "P19",
      run: async (kit) => {
        const session = await kit.open();
        const failure = await session.item(
          "failure",
          invoke(session, "kit.act@1", { asks: ["remember", "not_json"] }),
        );
        const isRefused = failure.cause === "action_invalid" && failure.permanent;
        must(isRefused, "a permanent action_invalid", failure);
        await echo(session);
      },
    },
    {
      name: "the function reads the memory of its Invoke",
      rule: "P20",
      run: async (kit) => {
        const session = await kit.open();
        const memoryJson = '{"draft":{"text":"é","n":[1,null]},"count":2}';
        const id = invoke(session, "kit.act@1", { asks: [] }, { memoryJson });
        const { outputJson } = await session.item("result", id);
        const { memory } = JSON.parse(outputJson) as { memory: Readonly<Record<string, unknown>> };
        const { draft, count } = memory;
        const came = JSON.stringify({ draft, count });
        must(came === memoryJson, memoryJson, outputJson);
      },
    },
    {
      name: "without a memory the function reads an empty one",
      rule: "P20",
      run: async (kit) => {
        const session = await kit.open();
        const { outputJson } = await session.item(
          "result",
          invoke(session, "kit.act@1", { asks: [] }),
        );
        must(outputJson.replaceAll(/\s/g, "") === '{"memory":{}}', '{"memory":{}}', outputJson);
      },
    },
  ],
};
