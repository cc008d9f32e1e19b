// The building blocks of configuration schemas. Each parses and bounds one kind of variable, has a default, and describes the expected
// form.

import { readRetention, RETENTION_FORM } from "@pawl/core/policy/retention";
import { parseCidrs } from "../egress/address.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "./schemas.ts";
import { z } from "zod";

import { redact } from "./redact.ts";
import { Secret } from "./secret.ts";

/** Services listen on loopback by default, because calls inside the system are not authenticated yet. */
export const LOOPBACK = "127.0.0.1";

/** The default ports on one machine. A person types only the port of the gateway. */
export const DEFAULT_PORTS = {
  gateway: 7400,
  scheduler: 7401,
  executorMetrics: 7402,
  schedulerMetrics: 7403,
  handlers: 7404,
} as const;

/** Longer than a tick and the end of handlers that react to abort. Shorter than the 30 s after which Kubernetes kills. */
export const DEFAULT_DRAIN_MS = 20_000;

const INTEGER = /^-?\d{1,15}$/;

interface Bounds {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly describe: string;
}

/** A transformation of text that reports `expected` if `read` returns undefined. */
const reading =
  <Value>(expected: string, read: (text: string) => Value | undefined) =>
  (text: string, ctx: z.RefinementCtx): Value => {
    const value = read(text);
    if (value !== undefined) return value;
    ctx.addIssue({ code: "custom", message: expected });
    return z.NEVER;
  };

/** The description of a variable whose value is no secret. A fault shows the wrong value. */
const plainly = (description: string) => ({ description, isPlain: true });

const integer = ({ default: preset, min, max, describe }: Bounds, what: string) => {
  const read = (text: string): number | undefined => {
    const value = INTEGER.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
  return z
    .string()
    .default(String(preset))
    .transform(reading(`expected ${what} from ${min} to ${max}`, read))
    .meta(plainly(describe));
};

/** A whole number of milliseconds within bounds. */
export const milliseconds = (bounds: Bounds) => integer(bounds, "whole milliseconds");

/** A whole number of things within bounds. */
export const count = (bounds: Bounds) => integer(bounds, "a whole number");

/** A TCP port. 0 takes a free one. */
export const port = (defaultPort: number, describe = "TCP port to listen on; 0 takes a free one") =>
  integer({ default: defaultPort, min: 0, max: 65_535, describe }, "a port");

/** The address that a server binds. */
export const listenHost = (describe = "address to listen on") =>
  z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, "expected an IP address or a host name")
    .default(LOOPBACK)
    .describe(describe);

const ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

/** host:port of a peer, or several with commas between them, or a gRPC target such as dns:///scheduler:7401. */
export const address = (defaultAddress: string, describe = "host:port, several with commas") =>
  z
    .string()
    .refine(
      (text) =>
        /^(dns|ipv4|ipv6):/.test(text) || text.split(",").every((part) => ADDRESS.test(part)),
      "expected host:port, or several with commas, or a gRPC target such as dns:///host:port",
    )
    .default(defaultAddress)
    .describe(describe);

/** A PostgreSQL URL. It prints without its password. */
export const databaseUrl = () =>
  z
    .string()
    .transform(
      reading("expected postgres://user:password@host:port/name", (text) => {
        const url = URL.parse(text);
        const isPostgres = /^postgres(ql)?:$/.test(url?.protocol ?? "");
        return url !== null && isPostgres ? new Secret(text, redact(url.href)) : undefined;
      }),
    )
    .describe("PostgreSQL to keep the log in: postgres://user:password@host:port/name");

const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

/** A schema of the database. */
const schemaName = (preset: string, describe: string) =>
  z
    .string()
    .regex(SCHEMA_NAME, "expected lower case letters, digits and underscores, and no pg_ in front")
    .default(preset)
    .describe(describe);

/** The schemas of the engine and of pg-boss. */
export const schemas = () => ({
  PAWL_DB_SCHEMA: schemaName(DEFAULT_SCHEMAS.engine, "schema of the engine's tables"),
  PAWL_QUEUE_SCHEMA: schemaName(DEFAULT_SCHEMAS.queue, "schema of pg-boss's tables"),
});

/** The schemas that settings name. */
export const schemasOf = (config: {
  readonly PAWL_DB_SCHEMA: string;
  readonly PAWL_QUEUE_SCHEMA: string;
}): Schemas => ({ engine: config.PAWL_DB_SCHEMA, queue: config.PAWL_QUEUE_SCHEMA });

/** Private address ranges that an operator opens for outgoing calls. */
export const privateEgress = (describe: string) =>
  z
    .string()
    .default("")
    .refine((text) => parseCidrs(text) !== undefined, "expected ranges such as 127.0.0.0/8,::1/128")
    .describe(describe);

/** How long finished runs are kept. It prints as the operator wrote it. */
export const retention = (describe: string) => {
  const read = (text: string) => {
    const policy = readRetention(text);
    return policy && { ...policy, toJSON: () => text };
  };
  return z
    .string()
    .default("")
    .transform(reading(`expected ${RETENTION_FORM}`, read))
    .describe(describe);
};

/** How often services sample their load. */
export const statsInterval = () => ({
  PAWL_STATS_MS: milliseconds({
    default: 60_000,
    min: 100,
    max: 3_600_000,
    describe: "how often the load is sampled, for the log, metrics and the history of queues",
  }),
});

const TOKEN_LENGTH_MIN = 16;

/** A token that the callers of a service share with it. */
export const sharedToken = (describe: string) =>
  z
    .string()
    .min(TOKEN_LENGTH_MIN, `expected at least ${TOKEN_LENGTH_MIN} characters`)
    .transform((text) => new Secret(text))
    .optional()
    .describe(describe);

/** A text that may be absent. */
export const plain = (describe: string) => z.string().min(1).optional().describe(describe);

/** A secret that may be absent. */
export const sharedSecret = (describe: string) =>
  z
    .string()
    .transform((text) => new Secret(text))
    .optional()
    .describe(describe);

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The lowest level that is logged. */
export const logLevel = () =>
  z
    .enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(", ")}`)
    .default("info")
    .meta(plainly("log lines of this level and above"));

/** `production` refuses settings that are only for development, such as failpoints. */
export const environment = () =>
  z
    .enum(["development", "production"], "expected development or production")
    .default("development")
    .meta(plainly("development or production"));

const FLAGS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...["on", "true", "yes", "1"].map((text) => [text, true]),
  ...["off", "false", "no", "0"].map((text) => [text, false]),
]);

/** A switch: on or off. */
export const flag = (defaultValue: boolean, describe: string) =>
  z
    .string()
    .default(defaultValue ? "on" : "off")
    .transform(reading("expected on or off", (text) => FLAGS[text.toLowerCase()]))
    .meta(plainly(describe));

/** A list of texts, separated by commas. */
export const list = (describe: string) =>
  z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .describe(describe);

/** Host names by which a port inside the deployment may be called. */
export const allowedHosts = () =>
  list("host names besides loopback and addresses under which the service may be called");
