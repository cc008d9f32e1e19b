// Takes what is secret out of a text that is about to be printed: the password of an address, and the value of every parameter whose name
// sounds like a secret, in a query, in a list of key=value or in JSON. It hides too much rather than too little.

const HIDDEN = "***";
/** In a name. */
const SECRET_NAME = /pass|pwd|secret|token|key|sig|cred|auth/i;

/** scheme://user:password@ */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*):[^\s/?#]*@/gi;
/** name=value, with quotes around the value where it has spaces; after the start, a space, or what separates parameters. */
const PARAMETER =
  /(^|[\s?&;,#])([^\s?&;,=#]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s&;]*)/g;

/** "name": "value", of JSON that stands in a text. */
const JSON_PAIR = /"((?:[^"\\]|\\.)*)"(\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** Whether what is called so may be printed. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(decoded(name));

/** The text without its secrets. */
export const redact = (text: string): string =>
  text
    .replace(USER_INFO, `$1:${HIDDEN}@`)
    .replace(PARAMETER, (whole, before: string, name: string, equals: string) =>
      isSecretName(name) ? `${before}${name}${equals}${HIDDEN}` : whole,
    )
    .replace(JSON_PAIR, (whole, name: string, colon: string) =>
      isSecretName(name) ? `"${name}"${colon}"${HIDDEN}"` : whole,
    );

/** A value of a configuration under its name; what is no text is left as it is. */
export const redactValue = (name: string, value: unknown): unknown => {
  if (typeof value !== "string" || value === "") return value;
  return isSecretName(name) ? HIDDEN : redact(value);
};

/** A name in percent encoding is the same name to those who read it. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};
