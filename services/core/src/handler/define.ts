// `defineHandler`: a node type as a function with schemas. The same handler runs inside an executor, in its own process and in a test. A
// handler that answers synchronously gives its outcome synchronously, so small built-in types cost no turn of the event loop.

import { isTypeName, TYPE_RULE } from "../name/type-name.ts";
import { Acts } from "./acts.ts";
import { type Context, type Invocation, onceOf } from "./context.ts";
import { failure, failureOf, type HandlerFailure } from "./failure.ts";
import { invoke } from "./invoke.ts";
import { Directive, type HandlerSuccess, Result } from "./result.ts";
import type { Call, HandlerSchemas, ServedHandler } from "./served.ts";
import {
  type Accepted,
  checkValue,
  type Given,
  schemaText,
  type SchemaText,
  type StandardSchema,
} from "./standard-schema.ts";

type Schema = StandardSchema | undefined;
type Returned<Output> = Output | Result<Output> | Directive;

/** How an invocation ended, as a value. */
export type Outcome = HandlerSuccess | HandlerFailure | Directive;

/** A handler with an accepted config, ready to run. */
export type Prepared<Extra extends object = object> =
  | {
      readonly ok: true;
      /** Checks the input, runs, and checks the output. Never throws and never rejects. */
      readonly execute: (call: Invocation & Extra) => Outcome | Promise<Outcome>;
    }
  | { readonly ok: false; readonly message: string };

/** A handler that an executor can run. `Extra` is the part that the executor adds to the context of its own handlers. */
export interface Executable<
  Input = unknown,
  Output = unknown,
  Config = unknown,
  Extra extends object = object,
> extends Omit<ServedHandler, "invoke"> {
  /** Checks a config whose templates are filled in, and binds it to the handler. */
  readonly prepare: (config: unknown) => Prepared<Extra>;
  /** Only for the compiler: the types of the input and the output. */
  readonly types?: { readonly input: Input; readonly output: Output; readonly config: Config };
}

/** A handler that can run anywhere. */
export interface Handler<Input = unknown, Output = unknown, Config = unknown>
  extends Executable<Input, Output, Config>, ServedHandler {}

export interface HandlerDefinition<
  I extends Schema,
  O extends Schema,
  C extends Schema,
  Extra extends object,
> {
  /** The node type: a name with an optional version, such as acme.charge@1. */
  readonly type: string;
  /** The description for people. */
  readonly description?: string;
  /** Schema of the input. Without one, any value. */
  readonly input?: I;
  /** Schema of the output. Without one, any JSON. */
  readonly output?: O;
  /** Schema of the node's config. Without one, any object. */
  readonly config?: C;
  /** How long a silent process keeps invocations of this handler. A minute by default. */
  readonly stallMs?: number;
  /** Its outputs are data from outside that is not trusted: they get the label `external`. False by default. */
  readonly external?: boolean;
  /** Whether the handler reads the state of the run as `ctx.state`. It costs a message of some hundred bytes more. */
  readonly state?: boolean;
  readonly run: (
    input: Given<I>,
    ctx: Context<Given<C>> & Extra,
  ) => Returned<Accepted<O>> | Promise<Returned<Accepted<O>>>;
}

/** Makes a `defineHandler` whose handlers get `Extra` in their context. An executor uses it for its built-in types. */
export const handlerDefiner =
  <Extra extends object>() =>
  <I extends Schema = undefined, O extends Schema = undefined, C extends Schema = undefined>(
    definition: HandlerDefinition<I, O, C, Extra>,
  ): Executable<Accepted<I>, Given<O>, Accepted<C>, Extra> => {
    const { type, description = "", stallMs = 0, external = false } = definition;
    const { input, output, config, state: wantsState = false } = definition;
    if (!isTypeName(type))
      throw new TypeError(`${JSON.stringify(type)} is no node type; write ${TYPE_RULE}`);
    let schemas: HandlerSchemas | undefined;
    const prepare = (raw: unknown): Prepared<Extra> => {
      const checked = checkValue(config, raw, "config");
      if (!checked.ok) return checked;
      return {
        ok: true,
        execute: (call) => {
          const acts = new Acts();
          const ctx = {
            ...call,
            ...acts.asks,
            // The schema gave the value. Without a schema the handler takes any config.
            config: checked.value as Given<C>,
            once: onceOf(call),
          };
          return executed(definition, call.input, ctx, acts);
        },
      };
    };
    return {
      type,
      description,
      stallMs,
      external,
      wantsState,
      // Schemas are converted on request, because an executor that publishes nothing does not need them.
      get schemas() {
        return (schemas ??= schemasOf({
          input: schemaText(input, "input"),
          output: schemaText(output, "output"),
          config: schemaText(config, "input"),
        }));
      },
      prepare,
    };
  };

const defineAnywhere = handlerDefiner<object>();

/** Makes a handler. The types of `run` follow from the schemas. @throws TypeError if the type is not a name */
export function defineHandler<
  I extends Schema = undefined,
  O extends Schema = undefined,
  C extends Schema = undefined,
>(definition: HandlerDefinition<I, O, C, object>): Handler<Accepted<I>, Given<O>, Accepted<C>> {
  const handler = defineAnywhere(definition);
  return Object.assign(handler, { invoke: (call: Call) => invoke(handler.prepare, call) });
}

function executed<I extends Schema, O extends Schema, C extends Schema, Extra extends object>(
  { input, output, run }: HandlerDefinition<I, O, C, Extra>,
  raw: unknown,
  ctx: Context<Given<C>> & Extra,
  acts: Acts,
): Outcome | Promise<Outcome> {
  const failed = (error: unknown): Outcome => failureOf(error, ctx.signal);
  const ended = (value: unknown): Outcome => checkedOutput(output, value, acts);
  try {
    const checked = checkValue(input, raw, "input");
    if (!checked.ok) return failure("input_invalid", checked.message, { permanent: true });
    // The schema gave the value. Without a schema the handler takes any input.
    const value = run(checked.value as Given<I>, ctx);
    return isThenable(value) ? Promise.resolve(value).then(ended).catch(failed) : ended(value);
  } catch (error) {
    return failed(error);
  }
}

function checkedOutput(schema: Schema, value: unknown, acts: Acts): Outcome {
  if (value instanceof Directive) return value;
  const { output, facts } = value instanceof Result ? value : { output: value, facts: {} };
  const checked = checkValue(schema, output, "output");
  if (!checked.ok)
    return failure("contract_violated", `the output does not fit its schema: ${checked.message}`);
  const acted = acts.end();
  return "failed" in acted ? acted : { ...facts, output: checked.value, ...acted };
}

/** The texts of the schemas, and a sentence for each that is not published. */
function schemasOf(made: Readonly<Record<"input" | "output" | "config", SchemaText>>) {
  const faults = Object.entries(made).flatMap(([part, { fault }]) =>
    fault === undefined ? [] : [`the schema of the ${part} is not published: ${fault}`],
  );
  const { input, output, config } = made;
  return { input: input.text, output: output.text, config: config.text, faults };
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" &&
  value !== null &&
  "then" in value &&
  typeof value.then === "function";
