// Names of labels. A label says from where untrusted data came, such as `web` or `model`.

/** For people. */
export const LABEL_RULE = "a small letter, then small letters, digits, - and _, at most 64";

/** In a list of labels: every label. */
export const ANY_LABEL = "*";

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/;

/** Whether a value may carry a label of this name. */
export const isTaintLabel = (name: string): boolean => LABEL.test(name);
