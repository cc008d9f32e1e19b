// One invocation: input, config, output, context and slots.

import { must } from "../broken-rule.ts";
import type { Case, Group } from "../case.ts";
import { echo, invoke, invokeItem, pings, SLOTS } from "../kit.ts";

/** JSON values that libraries like to change. */
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  9_007_199_254_740_991,
  "",
  'ünïcødé 漢字 😀 " \\ </script>',
  [],
  {},
  [[1, [2, [3]]], { a: { b: { c: null } } }],
  { "": "empty key", "key with spaces": 1, __proto__x: 2 },
];

const refused = (name: string, input: unknown, configJson: string, cause: string): Case => ({
  name,
  rule: "P10",
  run: async (kit) => {
    const session = await kit.open();
    const id = invoke(session, "kit.typed@1", input, { configJson });
    const failure = await session.item("failure", id);
    must(failure.cause === cause && failure.permanent, `a permanent ${cause}`, failure);
    const field = cause === "config_invalid" ? "prefix" : "count";
    must(failure.message.includes(field), `a message that names "${field}"`, failure.message);
    await echo(session);
  },
});

export const INVOKE: Group = {
  name: "invoke",
  cases: [
    {
      name: "every kind of JSON comes back as it was sent",
      rule: "P10",
      run: async (kit) => {
        const session = await kit.open();
        for (const value of VALUES) await echo(session, value);
      },
    },
    {
      name: "a typed handler gets its input and config, and its output is JSON of its type",
      rule: "P10",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(
          session,
          "kit.typed@1",
          { text: "ab", count: 2 },
          {
            configJson: '{"prefix":">"}',
          },
        );
        const { outputJson } = await session.item("result", id);
        must(outputJson.replace(/\s/g, "") === '{"text":">abab"}', '{"text":">abab"}', outputJson);
      },
    },
    refused(
      "input that does not fit its schema is input_invalid",
      { text: "a", count: 0 },
      "{}",
      "input_invalid",
    ),
    refused("input without a field is input_invalid", { text: "a" }, "{}", "input_invalid"),
    refused(
      "config that does not fit its schema is config_invalid",
      { text: "a", count: 1 },
      '{"prefix":7}',
      "config_invalid",
    ),
    {
      name: "an unknown type is unknown_node_type",
      rule: "P9",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.nothing@1", {});
        const failure = await session.item("failure", id);
        must(failure.cause === "unknown_node_type", "the cause unknown_node_type", failure);
        await echo(session);
      },
    },
    {
      name: "the function knows its attempt, effect key, run, node, iteration and trace",
      rule: "P13",
      run: async (kit) => {
        const session = await kit.open();
        const input = { lines: [], context: true };
        const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        const settings = { attempt: 3, effectKey: "key-7", traceparent };
        const id = invoke(session, "kit.log@1", input, settings);
        const { message } = await session.item("log", id);
        const run = "11111111-1111-7111-8111-111111111111";
        const expected = `attempt=3 effect_key=key-7 run=${run} node=node-1 iteration=0 trace=${traceparent}`;
        must(message === expected, expected, message);
      },
    },
    {
      name: "all slots run at the same time",
      rule: "P9",
      run: async (kit) => {
        const session = await kit.open();
        const names = Array.from({ length: SLOTS }, (_, index) => `slot-${index}`);
        const ids = names.map((name) => invoke(session, "kit.wait@1", { name }));
        for (const id of ids) await session.item("partial", id);
        for (const invocationId of ids)
          session.send({ case: "cancel", value: { invocationId, reason: 1 } });
        for (const id of ids) await session.item("ended", id);
      },
    },
    {
      name: "an Invoke above the slots waits until a function has returned",
      rule: "P9",
      run: async (kit) => {
        const session = await kit.open();
        const ids = Array.from({ length: SLOTS }, (_, index) =>
          invoke(session, "kit.wait@1", { name: `full-${index}` }),
        );
        for (const id of ids) await session.item("partial", id);
        const over = invoke(session, "kit.echo@1", '"late"');
        await pings(session, 3);
        must(
          session.all("result", over).length === 0,
          "no Result while every slot is taken",
          "Result",
        );
        const [first = "", ...rest] = ids;
        session.send({ case: "cancel", value: { invocationId: first, reason: 1 } });
        await session.item("result", over);
        for (const invocationId of rest)
          session.send({ case: "cancel", value: { invocationId, reason: 1 } });
        for (const id of rest) await session.item("ended", id);
      },
    },
    {
      name: "64 invocations in one message each have one Result",
      rule: "P9",
      run: async (kit) => {
        const session = await kit.open();
        const invokes = Array.from({ length: 64 }, (_, index) => invokeItem("kit.echo@1", index));
        session.send(...invokes.map(({ item }) => item));
        for (const [index, { invocationId }] of invokes.entries()) {
          const { outputJson } = await session.item("result", invocationId);
          must(outputJson === String(index), String(index), outputJson);
        }
        await echo(session);
        const results = session.items.things.filter(({ item }) => item.case === "result");
        must(results.length === 65, "65 results", results.length);
      },
    },
  ],
};
