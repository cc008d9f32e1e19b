// A handler process in TypeScript for the bench `hop`.
import { defineHandler, serve } from "@pawl/handler";

await serve([defineHandler({ type: "hop.TypeScript", run: async () => ({ ok: true }) })]);
