// The formats that a contract may name. Any other format is an annotation, as in JSON Schema 2020-12. A long text has none of these
// formats, so that no check is costly.

import { z } from "zod";

const TEXT_LENGTH_MAX = 2_048;

const SCHEMAS = {
  "date-time": z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  time: z.iso.time(),
  duration: z.iso.duration(),
  email: z.email(),
  hostname: z.hostname(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  uri: z.url(),
  uuid: z.guid(),
} as const;

/** Whether a text has the format, by the format's name. */
export const CONTRACT_FORMATS: Readonly<Record<string, (text: string) => boolean>> =
  Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      name,
      (text: string) => text.length <= TEXT_LENGTH_MAX && schema.safeParse(text).success,
    ]),
  );
