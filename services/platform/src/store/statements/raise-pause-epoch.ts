// The pauses change: what was decided on the ones before does not commit any more, and whoever listens reads them again. Comes before
// the change itself: its row lock has changes take turns, so that no two have the same epoch.

import type { Statement } from "../../db/sql.ts";

export const raisePauseEpoch: Statement = {
  name: "pawl_raise_pause_epoch",
  text: `
update pause_epoch
set epoch = epoch + 1
where is_only
returning epoch, pg_notify('pawl_pauses', epoch::text)
`,
};
