/** JSON schemas (draft 7) of the parts of parameters and results. rpc.discover shows them. */
import type {HEADER_ITEMS} from "../../workers/chain/chainView.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** An object that has all of these fields, perhaps some of `optional`, and no other. */
export function objectOf(
  fields: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const properties = {...fields, ...optional};
  return {type: "object", properties, required: Object.keys(fields), additionalProperties: false};
}

export function arrayOf(items: Schema): Schema {
  return {type: "array", items};
}

export function nullable(schema: Schema): Schema {
  return {oneOf: [schema, {type: "null"}]};
}

function hexText(title: string, digits: string): Schema {
  return {title, type: "string", pattern: `^0x${digits}$`};
}

export const QUANTITY = hexText("quantity", "(0|[1-9a-f][0-9a-f]{0,63})");
/** First and last block. */
export const RANGE: Schema = {type: "array", items: QUANTITY, minItems: 2, maxItems: 2};
export const HASH = hexText("32 bytes", "[0-9a-f]{64}");
export const BYTES = hexText("bytes", "([0-9a-f]{2})*");

/** The items of a header by name. */
export function headerFields(items: typeof HEADER_ITEMS): Readonly<Record<string, Schema>> {
  const schemas = items.map(({name, bytes, numberBytes}) => {
    const text = bytes === 32 ? HASH : BYTES;
    return [name, numberBytes === undefined ? text : QUANTITY] as const;
  });
  return Object.fromEntries(schemas);
}

/** One of the names, or the storage tree of an account. */
export function treeParam(names: readonly string[]): Schema {
  return {title: "tree", oneOf: [{type: "string", enum: names}, ADDRESS_PARAM]};
}

/** The forms that callers may write. */
export const ADDRESS_PARAM = hexText("address", "[0-9a-fA-F]{40}");
export const STORAGE_KEY_PARAM = hexText("storage key", "[0-9a-fA-F]{1,64}");
export const ETH_KEY_PARAM = hexText("storage key", "[0-9a-fA-F]{0,64}");
export const QUANTITY_PARAM = hexText("quantity", "(0|[1-9a-fA-F][0-9a-fA-F]{0,63})");
export const CURSOR_PARAM = hexText("cursor", "[0-9a-fA-F]{1,20}");
export const HASH_PARAM = hexText("32 bytes", "[0-9a-fA-F]{64}");

/** One digit less than a hash. */
export const BLOCK_NUMBER_PARAM = hexText("block number", "(0|[1-9a-fA-F][0-9a-fA-F]{0,62})");
const TAG_PARAM: Schema = {type: "string", enum: ["earliest", "finalized", "safe", "latest", "pending"]};

export const BLOCK_PARAM: Schema = {
  title: "block selector",
  oneOf: [
    BLOCK_NUMBER_PARAM,
    HASH_PARAM,
    TAG_PARAM,
    createReference("blockNumber", {oneOf: [BLOCK_NUMBER_PARAM, TAG_PARAM]}, "blockHash"),
    createReference("blockHash", HASH_PARAM, "blockNumber"),
  ],
};

/** A selector of EIP-1898. */
function createReference(field: string, schema: Schema, other: string): Schema {
  return {
    type: "object",
    properties: {[field]: schema, [other]: {type: "null"}, requireCanonical: nullable({type: "boolean"})},
    required: [field],
  };
}

const BLOCK_FIELDS = {number: QUANTITY, hash: HASH, stateRoot: HASH, finalized: {type: "boolean"}};

export const BLOCK = objectOf(BLOCK_FIELDS);

/** Where layer 1 finalized a block, and what the rollup contract holds since then: its state root or its hash. */
const LAYER1 = objectOf({blockNumber: QUANTITY, transactionHash: HASH}, {stateRoot: HASH, blockHash: HASH});

/** A block as chain_getStateRoot shows it. Only a block that ended a finalization has `l1`. */
export const ROOTED_BLOCK = objectOf(BLOCK_FIELDS, {l1: LAYER1});

export const FINALIZATION = objectOf({
  startBlock: nullable(QUANTITY),
  endBlock: QUANTITY,
  stateRoot: HASH,
  l1: LAYER1,
});
