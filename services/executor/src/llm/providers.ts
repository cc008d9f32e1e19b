// The providers of an executor by name. `offline` always exists. The default is the marked provider, otherwise the first configured one.

import { LIMITS } from "@pawl/core/data/limits";
import type { DeepReadonly } from "@pawl/platform/config/env";
import { Secret } from "@pawl/platform/config/secret";
import { z } from "zod";
import type { Egress } from "../egress/fetch.ts";
import { anthropicProvider } from "./anthropic.ts";
import { OFFLINE_PREFIX, offlineProvider } from "./offline.ts";
import { openAiProvider } from "./openai.ts";
import type { LlmProvider } from "./provider.ts";

const IDLE_MS = 60_000;

const httpUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "";
}, "expected http(s)://host/path without credentials, such as https://api.openai.com/v1");

const remoteSchema = z.strictObject({
  kind: z.enum(["openai", "anthropic"]),
  base_url: httpUrl,
  api_key: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/, "expected a key of one line")
    .transform((text) => new Secret(text))
    .optional(),
  /** The time limit of the whole call. */
  timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).optional(),
  /** The longest silence before and during the answer. */
  idle_timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).default(IDLE_MS),
  default: z.boolean().default(false),
});

const offlineSchema = z.strictObject({
  kind: z.literal("offline"),
  default: z.boolean().default(false),
});

/** PAWL_LLM_PROVIDERS: providers by name. */
export const providersSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "expected a name of letters, digits, . _ -"),
    z.discriminatedUnion("kind", [remoteSchema, offlineSchema]),
  )
  .refine(
    (all) => Object.values(all).filter((one) => one.default).length <= 1,
    "expected at most one default",
  );

type ProviderSettings = DeepReadonly<z.output<typeof providersSchema>>;

/** A provider and the time limit of a call. */
type NamedProvider = LlmProvider & { readonly timeoutMs: number };

export interface Providers {
  /** The provider of that name, or the default. A model that begins with offline/ always has the offline provider. */
  find(name: string | undefined, model: string): NamedProvider | undefined;
}

/** Makes the providers of a configuration. */
export function providersOf(settings: ProviderSettings, egress: Egress): Providers {
  const longestMs = LIMITS.nodeTimeoutMsMax;
  const offline = { ...offlineProvider, timeoutMs: longestMs };
  const all = new Map<string, NamedProvider>([["offline", offline]]);
  for (const [name, one] of Object.entries(settings)) {
    if (one.kind === "offline") all.set(name, offline);
    else {
      const { base_url: baseUrl, api_key: apiKey, idle_timeout_ms: idleMs } = one;
      const made = one.kind === "openai" ? openAiProvider : anthropicProvider;
      const provider = made(egress, { baseUrl, apiKey, idleMs });
      all.set(name, { ...provider, timeoutMs: one.timeout_ms ?? longestMs });
    }
  }
  const [first] = Object.keys(settings);
  const chosen = Object.entries(settings).find(([, one]) => one.default)?.[0] ?? first;
  return {
    find: (name, model) => {
      if (name === undefined && model.startsWith(OFFLINE_PREFIX)) return offline;
      return all.get(name ?? chosen ?? "offline");
    },
  };
}
