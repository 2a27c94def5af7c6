/**
 * Keys as tables store them. The newest version of a user key comes first.
 *
 *   internal key   user key | (sequence << 8 | kind) u64, little-endian
 */

import {count} from "../count.ts";

export const TAG_BYTES = 8;
export const Kind = {DELETION: 0, VALUE: 1} as const;

/** @returns a view. @throws RangeError if it is shorter than its tag */
export function userKeyOf(internalKey: Buffer): Buffer {
  if (internalKey.length < TAG_BYTES) throw new RangeError(`a key of ${count(internalKey.length, "byte")}`);
  return internalKey.subarray(0, internalKey.length - TAG_BYTES);
}

export function kindOf(internalKey: Buffer): number {
  return internalKey[internalKey.length - TAG_BYTES] as number;
}

export function compareKeys(internalKey: Buffer, userKey: Buffer): number {
  return Buffer.compare(userKeyOf(internalKey), userKey);
}

export function compareInternalKeys(left: Buffer, right: Buffer): number {
  const byUserKey = Buffer.compare(userKeyOf(left), userKeyOf(right));
  if (byUserKey !== 0) return byUserKey;
  const [leftTag, rightTag] = [tagOf(left), tagOf(right)];
  return leftTag > rightTag ? -1 : leftTag < rightTag ? 1 : 0;
}

function tagOf(internalKey: Buffer): bigint {
  return internalKey.readBigUInt64LE(internalKey.length - TAG_BYTES);
}
