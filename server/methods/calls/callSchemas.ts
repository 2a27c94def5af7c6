/** JSON schemas of what chain_estimateGas and eth_call take. */
import {ADDRESS_PARAM, arrayOf, HASH_PARAM, nullable, type Schema, STORAGE_KEY_PARAM} from "../schema.ts";

/** A number as callers may write it: hex or decimal text, or a JSON number. */
const AMOUNT: Schema = {
  title: "amount",
  oneOf: [
    {type: "integer", minimum: 0},
    {type: "string", pattern: "^(0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})|[0-9]{1,78})$"},
  ],
};
const BYTES_PARAM: Schema = {title: "bytes", type: "string", pattern: "^(0x([0-9a-fA-F]{2})*)?$"};

/** Every field may be left out or null. */
function fieldsOf(fields: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(fields).map(([name, schema]) => [name, nullable(schema)]);
  return {type: "object", properties: Object.fromEntries(entries)};
}

function amounts(...names: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.map(name => [name, AMOUNT]));
}

const ACCESS_LIST_ENTRY = fieldsOf({address: ADDRESS_PARAM, storageKeys: arrayOf(STORAGE_KEY_PARAM)});
const AUTHORIZATION = fieldsOf({
  address: ADDRESS_PARAM,
  ...amounts("chainId", "nonce", "yParity", "r", "s"),
});

export const CALL_PARAM: Schema = {
  title: "call",
  ...fieldsOf({
    from: ADDRESS_PARAM,
    to: ADDRESS_PARAM,
    data: BYTES_PARAM,
    input: BYTES_PARAM,
    ...amounts(
      "type",
      "gas",
      "gasPrice",
      "maxFeePerGas",
      "maxPriorityFeePerGas",
      "value",
      "nonce",
      "chainId",
    ),
    accessList: arrayOf(ACCESS_LIST_ENTRY),
    authorizationList: arrayOf(AUTHORIZATION),
  }),
};

const SLOTS: Schema = {type: "object", additionalProperties: STORAGE_KEY_PARAM};

export const OVERRIDES_PARAM: Schema = {
  title: "overrides, by address",
  type: "object",
  additionalProperties: nullable(
    fieldsOf({balance: AMOUNT, nonce: AMOUNT, code: BYTES_PARAM, state: SLOTS, stateDiff: SLOTS}),
  ),
};

export const BLOCK_OVERRIDES_PARAM: Schema = {
  title: "overrides of the block",
  ...fieldsOf({
    ...amounts("number", "time", "gasLimit", "baseFeePerGas", "blobBaseFee"),
    feeRecipient: ADDRESS_PARAM,
    prevRandao: HASH_PARAM,
  }),
  additionalProperties: false,
};
