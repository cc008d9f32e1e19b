// Turns of a conversation: runs of one thread.
import { type Json, type Multitask, PawlError } from "@pawl/client";
import { script } from "./graph.ts";

/** A turn of a conversation: it adds its text to what the turns before have left. */
export const SAY = script("return [...(ctx.memory.said ?? []), ctx.input]", {
  write_key: "said",
  read_keys: ["said"],
});

/** A start on a thread, which it creates if there is none. */
export const on = (threadId: string, input: Json, multitask?: Multitask) => ({
  threadId,
  createThread: true,
  input,
  multitask,
});

/** The error of a call that is refused. */
export async function refusal(asked: Promise<unknown>): Promise<PawlError> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof PawlError) return error;
    throw error;
  }
  throw new Error("the call was accepted");
}
