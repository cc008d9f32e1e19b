// Remembers which run an input was started as. A key that lives already violates input_keys_pkey, and with it the whole
// transaction; two schedulers that start the same input meet there.

import type { Statement } from "../../db/sql.ts";

export const keepInputKeys: Statement = {
  name: "pawl_keep_input_keys",
  text: `
insert into input_keys (tenant_id, input_key, run_id, expires_at)
select n.tenant_id, n.input_key, n.run_id, now() + n.ttl_ms * interval '1 millisecond'
from unnest($1::text[], $2::text[], $3::uuid[], $4::double precision[]) as n (tenant_id, input_key, run_id, ttl_ms)
order by n.tenant_id, n.input_key
`,
};
