// Checks every address of a host at connect time. The socket then connects to a checked address (`connect.ts`).

import { lookup as systemLookup } from "node:dns/promises";
import { isAddress } from "@pawl/platform/egress/address";
import { bareHost, type EgressPolicy, isAllowed, type Target } from "@pawl/platform/egress/url";

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Resolves a host once. Undefined unless it has an address and **every** address may be called. */
export async function resolveAllowed(
  target: Target,
  policy: EgressPolicy,
  lookup: Lookup = resolveAll,
): Promise<readonly ResolvedAddress[] | undefined> {
  const host = bareHost(target.host);
  const addresses = isAddress(host)
    ? [{ address: host, family: host.includes(":") ? 6 : 4 }]
    : await lookup(host);
  const where = { host, port: target.port };
  const allowed = addresses.every(({ address }) => isAllowed(address, where, policy));
  return addresses.length > 0 && allowed ? addresses : undefined;
}

const resolveAll: Lookup = (host) => systemLookup(host, { all: true });
