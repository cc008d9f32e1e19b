// Names of node types: a name with an optional version. A handler whose change breaks its callers gets another version.

const TYPE = /^[A-Za-z0-9-][A-Za-z0-9._-]*(@[0-9]{1,6})?$/;
const TYPE_LENGTH_MAX = 128;

export const TYPE_RULE =
  "1-128 of letters, digits, dot, hyphen and underscore, not starting with . or _, with an optional version such as @2";

/** True for the name of a node type. */
export const isTypeName = (text: string): boolean =>
  text.length <= TYPE_LENGTH_MAX && TYPE.test(text);
