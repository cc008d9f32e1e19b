// Decides by its text whether a URL may be called: scheme, credentials, literal address, port, name. A port or a name that is generally
// refused is allowed only for addresses that the operator opened. The executor also checks every address of the name when it connects.

import { isAddress, isPublicAddress, isWithin, type Cidr } from "./address.ts";

export interface EgressPolicy {
  /** Ports that may be called on public addresses. */
  readonly ports: ReadonlySet<number>;
  /** Private ranges that are open on any port. They are for development and tests only. */
  readonly allowed: readonly Cidr[];
  /** Whether plain http is refused. */
  readonly httpsOnly: boolean;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly message: string };

/** The default policy: web ports, public addresses only. */
export const DEFAULT_EGRESS: EgressPolicy = {
  ports: new Set([80, 443, 8443]),
  allowed: [],
  httpsOnly: false,
};

const URL_LENGTH_MAX = 8_192;
const INTERNAL_SUFFIXES = [".localhost", ".internal", ".local", ".lan", ".home.arpa", ".svc"];

const refused = (message: string): UrlVerdict => ({ ok: false, message });

/** Checks a URL before any name is resolved. */
export function checkUrl(text: string, policy: EgressPolicy): UrlVerdict {
  if (text.length > URL_LENGTH_MAX)
    return refused(`the URL is longer than ${URL_LENGTH_MAX} characters`);
  const url = URL.parse(text);
  if (url === null) return refused("the URL is not absolute; write http:// or https:// and a host");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refused("only http and https URLs may be called");
  if (url.protocol === "http:" && policy.httpsOnly) return refused("only https URLs may be called");
  if (url.username !== "" || url.password !== "")
    return refused("credentials belong in a header, not in the URL");
  const target = { host: bareHost(url.hostname), port: portOf(url) };
  const may = "may not be called; the operator can allow";
  if (isAddress(target.host)) {
    return isAllowed(target.host, target, policy)
      ? { ok: true, url }
      : refused(`this address or port ${may} it with PAWL_ALLOW_PRIVATE_EGRESS`);
  }
  return needsOpening(target, policy) && policy.allowed.length === 0
    ? refused(`this host or port ${may} addresses with PAWL_ALLOW_PRIVATE_EGRESS`)
    : { ok: true, url };
}

/** Whether one concrete address may be called, for a host and port. */
export function isAllowed(address: string, target: Target, policy: EgressPolicy): boolean {
  if (isWithin(address, policy.allowed)) return true;
  return isPublicAddress(address) && !needsOpening(target, policy);
}

const needsOpening = ({ host, port }: Target, { ports }: EgressPolicy): boolean =>
  !ports.has(port) || (!isAddress(host) && isInternalName(host));

/** Names inside a network: names without a dot (our own services, `localhost`) or with a private suffix. */
export function isInternalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.+$/, "");
  return !name.includes(".") || INTERNAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

/** The port that a URL addresses, explicit or the scheme's default. */
export const portOf = ({ port, protocol }: Pick<URL, "port" | "protocol">): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

/** A host of a URL without the brackets of IPv6. */
export const bareHost = (host: string): string =>
  host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
