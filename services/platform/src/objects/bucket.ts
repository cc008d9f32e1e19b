// Signed requests to a bucket, by the S3 protocol and AWS Signature Version 4. Addresses have the bucket in their path, which every service
// understands. The stores of values and of archived runs are built on it.

import { createHash, createHmac, randomUUID } from "node:crypto";
import type { Secret } from "../config/secret.ts";

export interface BucketOptions {
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
  /** What the names of all objects begin with. */
  readonly prefix: string;
  readonly keyId: string;
  readonly secret: Pick<Secret, "reveal">;
}

/** How long one request may take. */
const REQUEST_MS = 10_000;

interface BucketRequest {
  readonly body?: Buffer;
  /** Parameters behind the path. */
  readonly query?: Readonly<Record<string, string>>;
  /** Headers that the signature does not cover. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Bucket = ReturnType<typeof openBucket>;

export function openBucket(options: BucketOptions) {
  const { bucket, endpoint, prefix } = options;
  const base = endpoint.replace(/\/+$/, "");
  /** Sends a request about the object of a name, or about the bucket. Throws unless the answer is a success. */
  const send = async (
    method: string,
    name: string | undefined,
    { body, query = {}, headers = {} }: BucketRequest = {},
  ): Promise<Response> => {
    const segments = name === undefined ? [] : `${prefix}${name}`.split("/");
    const url = new URL(`${base}/${[bucket, ...segments].map(encoded).join("/")}`);
    for (const key of Object.keys(query).toSorted()) url.searchParams.set(key, query[key] ?? "");
    const signed = signature(options, { method, url, body, at: new Date() });
    return await fetch(url, {
      method,
      headers: { ...headers, ...signed },
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      signal: AbortSignal.timeout(REQUEST_MS),
      redirect: "error",
    });
  };
  const ask = async (method: string, name: string | undefined, request: BucketRequest = {}) => {
    const response = await send(method, name, request);
    if (!response.ok) throw await failureOf(method, response);
    return response;
  };
  /** The answer with an object. Undefined if there is none. */
  const get = async (
    name: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response | undefined> => {
    const response = await send("GET", name, { headers });
    // A missing bucket answers 404 too, with another code.
    if (response.status === 404) {
      const text = await response.text();
      if (text.includes("NoSuchKey")) return undefined;
      throw new Error(`GET answered 404: ${shown(text)}`);
    }
    if (!response.ok) throw await failureOf("GET", response);
    return response;
  };
  const put = async (name: string, body: Buffer): Promise<void> => {
    await (await ask("PUT", name, { body })).arrayBuffer();
  };
  const remove = async (name: string): Promise<void> => {
    const response = await send("DELETE", name);
    // Removing what is not there is no error.
    if (!response.ok && response.status !== 404) throw await failureOf("DELETE", response);
    await response.arrayBuffer();
  };
  return {
    ...{ prefix, ask, get, put, remove },
    /** Proves that the bucket stores and gives bytes. */
    check: async (): Promise<void> => {
      const name = `probe-${randomUUID()}`;
      await put(name, Buffer.from(name));
      const found = await (await get(name))?.text();
      await remove(name);
      if (found !== name) throw new Error("the bucket gave other bytes than it got");
    },
  };
}

async function failureOf(method: string, response: Response): Promise<Error> {
  return new Error(`${method} answered ${response.status}: ${shown(await response.text())}`);
}

/** The code of an answer of the service, or its beginning. */
const shown = (text: string): string =>
  /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? text.slice(0, 200);

/** A segment of a path as the signature wants it: everything but unreserved characters is escaped. */
const encoded = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The parameters as the signature wants them. */
const canonicalQuery = ({ searchParams }: URL): string =>
  searchParams.toString().replaceAll("+", "%20").replaceAll("*", "%2A").replaceAll("%7E", "~");

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

interface Signable {
  readonly method: string;
  readonly url: URL;
  readonly body: Buffer | undefined;
  readonly at: Date;
}

/** The headers of a signed request. */
export function signature(
  { keyId, secret, region }: Pick<BucketOptions, "keyId" | "secret" | "region">,
  { method, url, body, at }: Signable,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = {
    host: url.host,
    "x-amz-content-sha256": sha256(body ?? ""),
    "x-amz-date": time,
  };
  const names = Object.keys(headers).toSorted();
  const lines = names.map((name) => `${name}:${headers[name] ?? ""}\n`).join("");
  const signedNames = names.join(";");
  const request = [
    ...[method, url.pathname, canonicalQuery(url), lines, signedNames],
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(request)].join("\n");
  const key = ["s3", "aws4_request"].reduce(
    (made, part) => hmac(made, part),
    hmac(hmac(`AWS4${secret.reveal()}`, day), region),
  );
  const proof = hmac(key, text).toString("hex");
  const { host: _host, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${signedNames}, Signature=${proof}`,
  };
}
