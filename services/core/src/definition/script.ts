// Checks that a script parses when its definition is saved, so that no run meets a typing error. The script is compiled as the body of
// an async function, as the sandbox runs it, and is never called here.

const AsyncFunction: unknown = Object.getPrototypeOf(async () => undefined).constructor;

/** The syntax error of the script, or undefined. It is always undefined where code generation is switched off. */
export function checkScript(code: string): string | undefined {
  if (typeof AsyncFunction !== "function") return undefined;
  try {
    Reflect.construct(AsyncFunction, ["ctx", "input", code]);
    return undefined;
  } catch (error) {
    if (error instanceof EvalError) return undefined;
    return error instanceof Error ? error.message.slice(0, 200) : "the script does not parse";
  }
}
