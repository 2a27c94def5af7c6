/** JSON schemas (draft 7) of the parts of parameters and results. rpc.discover shows them. */

export type Schema = Readonly<Record<string, unknown>>;

/** An object that has all of these fields and no other. */
export function objectOf(fields: Readonly<Record<string, Schema>>): Schema {
  return {type: "object", properties: fields, required: Object.keys(fields), additionalProperties: false};
}

export function arrayOf(items: Schema): Schema {
  return {type: "array", items};
}

/** Allows null too. */
export function nullable(schema: Schema): Schema {
  return {oneOf: [schema, {type: "null"}]};
}

function hexText(title: string, digits: string): Schema {
  return {title, type: "string", pattern: `^0x${digits}$`};
}

export const QUANTITY = hexText("quantity", "(0|[1-9a-f][0-9a-f]{0,63})");
export const HASH = hexText("32 bytes", "[0-9a-f]{64}");
export const BYTES = hexText("bytes", "([0-9a-f]{2})*");

/** The forms that callers may write. */
export const ADDRESS_PARAM = hexText("address", "[0-9a-fA-F]{40}");
export const STORAGE_KEY_PARAM = hexText("storage key", "[0-9a-fA-F]{1,64}");
const QUANTITY_PARAM = hexText("quantity", "[0-9a-fA-F]{1,64}");
const HASH_PARAM = hexText("32 bytes", "[0-9a-fA-F]{64}");

/** A block selector (selector.ts). */
export const BLOCK_PARAM: Schema = {
  title: "block selector",
  oneOf: [
    QUANTITY_PARAM,
    {type: "string", enum: ["earliest", "finalized", "safe", "latest", "pending"]},
    createReference("blockNumber", QUANTITY_PARAM),
    createReference("blockHash", HASH_PARAM),
  ],
};

/** A selector of EIP-1898. */
function createReference(field: string, schema: Schema): Schema {
  return {
    type: "object",
    properties: {[field]: schema, requireCanonical: {type: "boolean"}},
    required: [field],
  };
}

/** A block as chain_getStateRoot and chain_getProofAt name it. */
export const BLOCK = objectOf({
  number: QUANTITY,
  hash: HASH,
  stateRoot: HASH,
  finalized: {type: "boolean"},
});
