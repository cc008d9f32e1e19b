// Actions, memory and labels: what the function asks of the engine travels with its Result, and it reads the memory and the labels of its
// Invoke.

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
      name: "the function reads the labels of its Invoke, and the labels that it adds go with the Result",
      rule: "P21",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.taint@1", {}, { taint: ["web", "model"] });
        const { outputJson, taint } = await session.item("result", id);
        const labels = '{"labels":["model","web"]}';
        must(outputJson.replaceAll(/\s/g, "") === labels, labels, outputJson);
        must(taint.join() === "kit", "the label kit", taint);
      },
    },
    {
      name: "the function reads the state of its Invoke, and only a handler that asks for it has one",
      rule: "P20",
      run: async (kit) => {
        const session = await kit.open();
        const asking = session.hello.handlers.filter(({ state }) => state).map(({ type }) => type);
        must(asking.join() === "kit.act@1", "only kit.act@1 asks for the state", asking);
        const memory = { draft: { text: "é" } };
        const state = { goal: "sell", current_nodes: ["a", "b"], retry_count: 2, memory };
        const times = { created_at: "2026-01-02T03:04:05.678Z", a_newer_field: [1] };
        const stateJson = JSON.stringify({ ...state, ...times });
        const id = invoke(session, "kit.act@1", { asks: ["state"] }, { stateJson });
        const { outputJson } = await session.item("result", id);
        const { state: came } = JSON.parse(outputJson) as {
          state: Readonly<Record<string, unknown>>;
        };
        const { goal, nodes, retries, memory: seen } = came;
        const read = JSON.stringify({ goal, nodes, retries, memory: seen });
        const due = JSON.stringify({ goal: "sell", nodes: ["a", "b"], retries: 2, memory });
        must(read === due, due, outputJson);
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
