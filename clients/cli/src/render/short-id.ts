// Ids as people read and type them. Run ids are UUIDv7: their beginning is the time, equal for runs of the same minute, so only the
// end differs. The console shows the same eight characters.

const SHORT_LENGTH = 8;

/** The end of an id. */
export const shortId = (id: string): string => id.slice(-SHORT_LENGTH);
