// Short terminal events, sent by the statement that appends them (ADR 34). What is sent is made of the inserted row, so it has the real
// seq, the time of the transaction and the JSON as a read would give it; `wake/listen.ts` reads it.

import { TERMINAL_TYPES } from "@pawl/core/log/event";

/** Longer ones are read: every gateway hears every one of these. */
const BYTES_MAX = 1_000;

const types = TERMINAL_TYPES.map((type) => `'${type}'`).join(", ");

/** Of a row that is inserted into run_events: the columns of a terminal event as a JSON array; null for any other. */
export const ENDING = `case
    when type in (${types}) then
      json_build_array(
        run_id, seq, type, node_id, iteration, attempt, epoch, payload, value::text,
        floor(date_part('epoch', at) * 1000 + 0.0005)
      )::text
  end`;

/** Sends what the insertion named `appended` returned as `ending`. */
export const ANNOUNCE_ENDS = `(
    select count(pg_notify('pawl_ends', a.ending))
    from appended a
    where octet_length(a.ending) <= ${BYTES_MAX}
  )`;
