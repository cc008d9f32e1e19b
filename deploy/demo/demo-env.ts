// What the examples need of an executor beyond its defaults: rules of moderation, and a data source where there is one.
import { fileURLToPath } from "node:url";

type Env = Readonly<Record<string, string>>;

/** The rules that content-pipeline and document-approval speak of. */
export const DEMO_RULES = fileURLToPath(new URL("moderation-rules.yaml", import.meta.url));

/** Variables for an executor; what a person set stands. `dataUrl` is of prepareDemoData. */
export function demoEnv(set: Env, dataUrl: string | undefined): Env {
  const sources = JSON.stringify({ demo: { url: dataUrl, mode: "read_only" } });
  return {
    ...("PAWL_MODERATION_URL" in set ? {} : { PAWL_MODERATION_RULES: DEMO_RULES }),
    ...(dataUrl === undefined ? {} : { PAWL_DATA_SOURCES: sources }),
    ...set,
  };
}
