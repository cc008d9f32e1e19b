// What the examples need of an executor beyond its defaults: rules of moderation, and data sources where there are some.
import { fileURLToPath } from "node:url";

type Env = Readonly<Record<string, string>>;

/** The rules that content-pipeline and document-approval speak of. */
export const DEMO_RULES = fileURLToPath(new URL("moderation-rules.yaml", import.meta.url));

/** Variables for an executor; what a person set stands. */
export const demoEnv = (set: Env): Env => ({
  ...("PAWL_MODERATION_URL" in set ? {} : { PAWL_MODERATION_RULES: DEMO_RULES }),
  ...set,
});

/** The databases an executor may ask, by name: `demo` for reading, `till` for writing. */
export function dataSources(urls: { readonly demo: string; readonly till?: string }): Env {
  const { demo, till } = urls;
  const sources = {
    demo: { url: demo, mode: "read_only" },
    ...(till === undefined ? {} : { till: { url: till, mode: "read_write" } }),
  };
  return { PAWL_DATA_SOURCES: JSON.stringify(sources) };
}
