// A handler process with one step, for the bench.
import { defineHandler, serve } from "@pawl/handler";

const type = process.env["STEP_TYPE"] ?? "bench.step";
await serve([defineHandler({ type, run: async () => ({ ok: true }) })], { slots: 1_024 });
