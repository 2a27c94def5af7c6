/** JSON schemas of the parameters and the result of an estimate (docs/gas.md). */
import {
  ADDRESS_PARAM,
  arrayOf,
  nullable,
  objectOf,
  QUANTITY,
  type Schema,
  STORAGE_KEY_PARAM,
} from "../schema.ts";

export const ESTIMATE = objectOf({
  baseFeePerGas: QUANTITY,
  gasLimit: QUANTITY,
  priorityFeePerGas: QUANTITY,
});

/** A number as callers may write it: hex or decimal text, or a JSON number. */
const AMOUNT: Schema = {
  title: "amount",
  oneOf: [
    {type: "integer", minimum: 0},
    {type: "string", pattern: "^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$"},
  ],
};
const BYTES_PARAM: Schema = {title: "bytes", type: "string", pattern: "^0x([0-9a-fA-F]{2})*$"};

/** Every field may be left out or null. */
function fieldsOf(fields: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(fields).map(([name, schema]) => [name, nullable(schema)]);
  return {type: "object", properties: Object.fromEntries(entries)};
}

const ACCESS_LIST_ENTRY = fieldsOf({address: ADDRESS_PARAM, storageKeys: arrayOf(STORAGE_KEY_PARAM)});
const AUTHORIZATION = fieldsOf({
  chainId: AMOUNT,
  address: ADDRESS_PARAM,
  nonce: AMOUNT,
  yParity: AMOUNT,
  r: AMOUNT,
  s: AMOUNT,
});

export const CALL_PARAM: Schema = {
  title: "call",
  ...fieldsOf({
    type: AMOUNT,
    from: ADDRESS_PARAM,
    to: ADDRESS_PARAM,
    gas: AMOUNT,
    gasPrice: AMOUNT,
    maxFeePerGas: AMOUNT,
    maxPriorityFeePerGas: AMOUNT,
    value: AMOUNT,
    data: BYTES_PARAM,
    input: BYTES_PARAM,
    nonce: AMOUNT,
    chainId: AMOUNT,
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
