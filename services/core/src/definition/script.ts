// Does a script parse? Asked when a definition is saved, so that a typing error is not found by a run. The script is compiled
// as the body of an async function, which is how the sandbox runs it, and is never called here.

const AsyncFunction: unknown = Object.getPrototypeOf(async () => undefined).constructor;

/** What is wrong with the script's syntax, or undefined. Where code generation is switched off, nothing is said. */
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
