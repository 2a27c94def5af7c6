/**
 * Parses the call object of chain_estimateGas and eth_call. Its fields are checked one by one and then together.
 *
 *   type   excludes                                                  chosen without `type` if there is
 *   0      accessList, maxFeePerGas, maxPriorityFeePerGas            gasPrice
 *   1      maxFeePerGas, maxPriorityFeePerGas                        gasPrice and accessList
 *   2      gasPrice                                                  maxFeePerGas, maxPriorityFeePerGas
 *   4      gasPrice; needs authorizationList and to                  authorizationList
 *
 * Only type 4 has an authorizationList. If no field decides the type, the block's hard fork does.
 */
import type {EstimateCall, TransactionType} from "../../../workers/messages/estimateCall.ts";
import type {Work} from "../../fairness/work.ts";
import {FieldNames} from "../../rpc/fieldNames.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {createParamsError, createValueError} from "../../rpc/rpcError.ts";
import {parseAccessList, parseAuthorizationList} from "./callLists.ts";
import {
  type Fields,
  GAS_BOUND,
  hasField,
  parseAddress,
  parseAmount,
  parseBytes,
  parseField,
  parseFields,
  parseNonce,
  parseWei,
  WORD_BOUND,
} from "./callValues.ts";

const EXCLUDED: Readonly<Record<TransactionType, readonly string[]>> = {
  0: ["accessList", "maxFeePerGas", "maxPriorityFeePerGas", "authorizationList"],
  1: ["maxFeePerGas", "maxPriorityFeePerGas", "authorizationList"],
  2: ["gasPrice", "authorizationList"],
  4: ["gasPrice"],
};

/** The fields of a call of type 3. */
const BLOB_FIELDS = ["blobVersionedHashes", "maxFeePerBlobGas", "blobs", "commitments", "proofs"];
const FIELDS = [
  ...["type", "from", "to", "value", "data", "input", "gas", "nonce", "chainId"],
  ...["gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "accessList", "authorizationList"],
  ...BLOB_FIELDS,
];
const NAMES = new FieldNames(FIELDS);
/** Before a caller's fields. To ask for each name by Object.hasOwn took as long as parsing a short call's JSON. */
const NONE: Fields = Object.fromEntries(FIELDS.map(name => [name, undefined]));

const NO_BYTES = new Uint8Array(0);

/**
 * Add more fields with Object.assign. A spread of so many fields, with others after it, takes V8 6 us and 3 KB (Node 20).
 * @param ownId - the chain id; undefined: that of the call is not checked
 * @throws RpcError INVALID_PARAMS
 */
export function* parseCallFields(
  call: unknown,
  path: string,
  ownId: bigint | undefined,
): Work<Omit<EstimateCall, "block" | "overrides">> {
  const given = parseFields(call, `${path} (call)`, "an object");
  NAMES.requireCase(given, path);
  const fields = {...NONE, ...given};
  for (const name of BLOB_FIELDS)
    if (hasField(fields, name))
      throw createParamsError(
        `${path}.${name}: expected no field of blobs (they are not supported), got one`,
      );
  checkChainId(fields, path, ownId);
  const type = chooseType(fields, path);
  const {accessList, authorizationList} = fields;
  const parsed = {
    type,
    value: parseField(fields, "value", path, parseWei) ?? 0n,
    data: parseData(fields, path),
    from: parseField(fields, "from", path, parseAddress),
    to: parseField(fields, "to", path, parseAddress),
    gas: parseField(fields, "gas", path, (gas, gasPath) => parseAmount(gas, gasPath, GAS_BOUND)),
    gasPrice: parseField(fields, "gasPrice", path, parseWei),
    maxFeePerGas: parseField(fields, "maxFeePerGas", path, parseWei),
    maxPriorityFeePerGas: parseField(fields, "maxPriorityFeePerGas", path, parseWei),
    nonce: parseField(fields, "nonce", path, parseNonce),
    accessList: hasField(fields, "accessList")
      ? yield* parseAccessList(accessList, `${path}.accessList`)
      : undefined,
    authorizationList: hasField(fields, "authorizationList")
      ? yield* parseAuthorizationList(authorizationList, `${path}.authorizationList`)
      : undefined,
  };
  const {maxFeePerGas: most, maxPriorityFeePerGas: priority} = parsed;
  if (most !== undefined && priority !== undefined && priority > most) {
    const highest = `at most maxFeePerGas (${encodeQuantity(most)})`;
    throw createValueError(`${path}.maxPriorityFeePerGas`, fields.maxPriorityFeePerGas, highest);
  }
  return parsed;
}

function chooseType(fields: Fields, path: string): TransactionType | undefined {
  const has = (name: string) => hasField(fields, name);
  const dynamic = has("maxFeePerGas") ? "maxFeePerGas" : "maxPriorityFeePerGas";
  if (has("gasPrice") && has(dynamic))
    throw createParamsError(`${path}: expected gasPrice or ${dynamic}, got both`);
  const type = parseField(fields, "type", path, parseType) ?? typeOfFields(has, dynamic);
  if (type === undefined) return undefined;
  for (const name of EXCLUDED[type])
    if (has(name)) throw createParamsError(`${path}: expected no ${name} in a call of type ${type}, got one`);
  if (type === 4) {
    for (const name of ["authorizationList", "to"])
      if (!has(name))
        throw createParamsError(`${path}.${name}: expected a value in a call of type 4, got nothing`);
  }
  return type;
}

function typeOfFields(has: (name: string) => boolean, dynamic: string): TransactionType | undefined {
  if (has("authorizationList")) return 4;
  if (has("gasPrice")) return has("accessList") ? 1 : 0;
  return has(dynamic) ? 2 : undefined;
}

/** As execution-apis has it, it is a byte: its hex may have a leading zero. */
function parseType(value: unknown, path: string): TransactionType {
  const quantity = typeof value === "string" ? value.replace(/^0x0(?=.$)/, "0x") : value;
  const type = Number(parseAmount(quantity, path, WORD_BOUND));
  if (type === 0 || type === 1 || type === 2 || type === 4) return type;
  throw createValueError(path, value, type === 3 ? "0, 1, 2 or 4 (blobs are not supported)" : "0, 1, 2 or 4");
}

/** `input` is the newer name of `data`. SDKs send either or both. */
function parseData(fields: Fields, path: string): Uint8Array {
  const data = parseField(fields, "data", path, parseBytes);
  const input = parseField(fields, "input", path, parseBytes);
  if (data !== undefined && input !== undefined && Buffer.compare(data, input) !== 0)
    throw createParamsError(`${path}: expected data or input, or the same in both, got two values`);
  return data ?? input ?? NO_BYTES;
}

function checkChainId(fields: Fields, path: string, own: bigint | undefined): void {
  const chainId = parseField(fields, "chainId", path, parseWei);
  if (chainId === undefined || own === undefined || chainId === own) return;
  throw createValueError(`${path}.chainId`, fields.chainId, `${encodeQuantity(own)} (this node's chain)`);
}
