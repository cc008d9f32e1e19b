// `supervisor`: chooses the next node. The first rule that holds decides. If none holds, the model decides among the routes and `done`, or the
// supervisor is done if it has no model. The output has the route and the reason, so the log has every decision. The bound counts the
// rounds of the node: its iteration is the number of decisions before.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { conditionOrFault } from "@pawl/core/data/expression";
import { LIMITS } from "@pawl/core/data/limits";
import { isRecord } from "@pawl/core/data/path";
import type { NodeContext, Scope } from "@pawl/core/data/scope";
import { DONE, MAX_ITERATIONS } from "@pawl/core/definition/agent-config";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { Failed } from "@pawl/core/handler/failure";
import { result } from "@pawl/core/handler/result";
import { z } from "zod";
import { askModel, jsonIn, rendered } from "../llm/ask.ts";
import type { LlmEnvelope, LlmMessage } from "../llm/provider.ts";
import type { Providers } from "../llm/providers.ts";
import { defineHandler, failedForGood, type Handler, withUnrendered } from "./handler.ts";

const EXPRESSIONS_MAX = 1_000;
const conditions = new BoundedMap<string, ReturnType<typeof conditionOrFault>>(EXPRESSIONS_MAX);

/** The author's schema after rendering. */
const configSchema = z.strictObject({
  ...NODE_CONFIGS.supervisor.shape,
  system: rendered.optional(),
  prompt: rendered.optional(),
});
type Config = z.output<typeof configSchema>;

/** Makes the handler for the configured providers. */
export const supervisorHandler = (providers: Providers): Handler =>
  withUnrendered(
    ["routes"],
    defineHandler({
      type: "supervisor",
      config: configSchema,
      run: async (_input, { config, ...ctx }) => {
        const { model, max_iterations: max } = config;
        if (ctx.iteration >= max)
          return decided(MAX_ITERATIONS, `the supervisor has decided ${max} times`);
        const rule = ruleOf(config, ctx.scope);
        if (rule !== undefined) return decided(rule.id, `the rule holds: ${rule.when}`);
        if (model === undefined) return decided(DONE, "no rule holds");
        const input = {
          messages: messagesOf(config, ctx.context),
          ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
          ...(config.max_tokens === undefined ? {} : { maxTokens: config.max_tokens }),
          responseFormat: "json" as const,
          isStreamed: true,
        };
        const envelope = await askModel(providers, { ...config, model, input, isShown: true }, ctx);
        const { route, reason } = choiceIn(config, envelope);
        return decided(route, reason);
      },
    }),
  );

const decided = (route: string, reason: string) =>
  result(
    { route, reason: reason.slice(0, LIMITS.decisionReasonLength).toWellFormed() },
    { handle: route },
  );

function ruleOf({ routes }: Config, scope: Scope): Config["routes"][number] | undefined {
  for (const route of routes) {
    if (route.when === undefined) continue;
    const compiled = conditions.ensure(route.when, conditionOrFault);
    if (typeof compiled === "string") throw failedForGood("config_invalid", compiled);
    const verdict = compiled.evaluate(scope);
    if (!verdict.ok) throw failedForGood(verdict.reason, `route ${route.id}: ${verdict.message}`);
    if (verdict.value) return route;
  }
  return undefined;
}

const INSTRUCTION =
  'You choose the next step. Answer with one JSON object: {"route": "<one of the routes>", "reason": "<one sentence>"}. The routes are:';

/** The earlier decisions are answers of the model in the same conversation. */
function messagesOf(config: Config, { decisions = [] }: NodeContext): LlmMessage[] {
  const { system = "", prompt = "", routes } = config;
  const listed = routes.map(({ id, description = "" }) => `- ${id}: ${description}`);
  const done = routes.some(({ id }) => id === DONE) ? [] : [`- ${DONE}: nothing is left to do`];
  const content = [system, INSTRUCTION, ...listed, ...done]
    .filter((line) => line !== "")
    .join("\n");
  return [
    { role: "system", content },
    ...decisions.flatMap((decision) => [
      { role: "user", content: "Choose the next route." },
      { role: "assistant", content: JSON.stringify(decision) },
    ]),
    { role: "user", content: prompt },
  ];
}

function choiceIn({ routes }: Config, envelope: LlmEnvelope) {
  const choice = jsonIn(envelope);
  const { route, reason = "" } = isRecord(choice) ? choice : {};
  const ids = [...routes.map(({ id }) => id), DONE];
  if (typeof route === "string" && ids.includes(route))
    return { route, reason: typeof reason === "string" ? reason : JSON.stringify(reason) };
  const message = `the model chose ${(JSON.stringify(route) ?? "nothing").slice(0, 128)}; the routes are ${[...new Set(ids)].join(", ")}`;
  throw new Failed("route_invalid", message);
}
