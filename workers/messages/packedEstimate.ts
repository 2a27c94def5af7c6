/**
 * The packed form of an EstimateCall. Calls lie back to back, as those for proofs (packedCall.ts):
 *
 *   0                  4           10           12        13
 *   | length of it u32 | block u48 | fields u16 | type u8 | name length u8, method's name | fields ... | data |
 *
 *   fields   each that the call has: from 20, to 20, numbers 32 each, the rest by v8.serialize with its length u32
 *
 * Hot: structured clone took 5 us for a call of two fields, on both threads together.
 */
import {deserialize, serialize} from "node:v8";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {readBigEndian} from "../../storage/rlp/rlpReader.ts";
import type {EstimateCall} from "./estimateCall.ts";
import {ADDRESS_BYTES} from "./packedCall.ts";

const BLOCK_AT = 4;
const FIELDS_AT = 10;
const TYPE_AT = 12;
const NAME_AT = 13;

/** Bits of the fields. The numbers have those from NUMBERS on. */
const IS_CALL = 1;
const IS_LATEST = 2;
const FROM = 4;
const TO = 8;
const REST = 16;
const NUMBERS = 32;
const NUMBER_NAMES = ["value", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "nonce"] as const;
/** Of all but the method's name, the rest and the data. */
const MOST_BYTES = NAME_AT + 1 + 2 * ADDRESS_BYTES + NUMBER_NAMES.length * WORD_BYTES + 4;
const NO_TYPE = 0xff;
const LIMB = (1n << 64n) - 1n;

type Changeable = {-readonly [name in keyof EstimateCall]: EstimateCall[name]};

/** @param reserve - makes room for so many bytes at `start`. @returns the call's end */
export function packEstimate(call: EstimateCall, start: number, reserve: (bytes: number) => Buffer): number {
  const {method = "", from, to, data, block, kind, isLatest, type = NO_TYPE} = call;
  const rest = serializeRest(call);
  const packed = reserve(MOST_BYTES + method.length + (rest?.length ?? 0) + data.length);
  let fields = (kind === "call" ? IS_CALL : 0) | (isLatest === true ? IS_LATEST : 0);
  let end = start + NAME_AT + 1;
  end += packed.write(method, end, "latin1");
  packed[start + NAME_AT] = method.length;
  if (from !== undefined) {
    fields |= FROM;
    packed.set(from, end);
    end += ADDRESS_BYTES;
  }
  if (to !== undefined) {
    fields |= TO;
    packed.set(to, end);
    end += ADDRESS_BYTES;
  }
  for (let at = 0; at < NUMBER_NAMES.length; at++) {
    const number = call[NUMBER_NAMES[at] as (typeof NUMBER_NAMES)[number]];
    if (number === undefined || (at === 0 && number === 0n)) continue;
    fields |= NUMBERS << at;
    writeWord(packed, end, number);
    end += WORD_BYTES;
  }
  if (rest !== undefined) {
    fields |= REST;
    end = packed.writeUInt32BE(rest.length, end);
    packed.set(rest, end);
    end += rest.length;
  }
  packed.set(data, end);
  end += data.length;
  packed.writeUInt32BE(end - start, start);
  packed.writeUIntBE(block, start + BLOCK_AT, 6);
  packed.writeUInt16BE(fields, start + FIELDS_AT);
  packed[start + TYPE_AT] = type;
  return end;
}

/** The end of the call that begins at `start`. */
export function estimateEnd(calls: Buffer, start: number): number {
  return start + calls.readUInt32BE(start);
}

/** @param packed - one call. @returns views into it */
export function unpackEstimate(packed: Buffer): EstimateCall {
  const fields = packed.readUInt16BE(FIELDS_AT);
  const nameEnd = NAME_AT + 1 + (packed[NAME_AT] as number);
  const type = packed[TYPE_AT];
  let at = nameEnd;
  const has = (field: number): boolean => (fields & field) !== 0;
  const take = (bytes: number): Buffer => {
    at += bytes;
    return packed.subarray(at - bytes, at);
  };
  const call: Changeable = {
    kind: has(IS_CALL) ? "call" : "estimate",
    method: packed.toString("latin1", NAME_AT + 1, nameEnd),
    block: packed.readUIntBE(BLOCK_AT, 6),
    isLatest: has(IS_LATEST),
    type: type === NO_TYPE ? undefined : (type as EstimateCall["type"]),
    from: has(FROM) ? take(ADDRESS_BYTES) : undefined,
    to: has(TO) ? take(ADDRESS_BYTES) : undefined,
    value: 0n,
    data: packed,
  };
  if (fields >= NUMBERS)
    for (const [index, name] of NUMBER_NAMES.entries())
      if (has(NUMBERS << index)) call[name] = readBigEndian(take(WORD_BYTES));
  if (has(REST)) Object.assign(call, deserialize(Buffer.from(take(packed.readUInt32BE(at) + 4).subarray(4))));
  call.data = packed.subarray(at);
  return call;
}

/** What few calls have. */
function serializeRest(call: EstimateCall): Buffer | undefined {
  const {errorCodes, accessList, authorizationList, overrides, blockOverrides} = call;
  const some = errorCodes ?? accessList ?? authorizationList ?? overrides ?? blockOverrides;
  if (some === undefined) return undefined;
  return serialize({errorCodes, accessList, authorizationList, overrides, blockOverrides});
}

function writeWord(out: Buffer, at: number, word: bigint): void {
  let rest = word;
  for (let limb = at + WORD_BYTES - 8; limb >= at; limb -= 8) {
    out.writeBigUInt64BE(rest & LIMB, limb);
    rest >>= 64n;
  }
}
