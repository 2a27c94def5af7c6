/** Keys of leaves for tests of trees and indexes. */
import {createHash} from "node:crypto";

/** A key as uniformly distributed as real ones. */
export function hKeyOf(name: string | number): Buffer {
  return createHash("sha256").update(`key ${name}`).digest();
}

/** A key that every suite can have: each element of four bytes is below the p of poseidon2, and all keys below its tail key. */
export function anySuiteKeyOf(name: string | number): Buffer {
  const key = hKeyOf(name);
  for (let at = 0; at < key.length; at += 4) key[at] = (key[at] as number) & 0x3f;
  return key;
}

/** 32 bytes that begin with `digits`, followed by zeros. */
export function hKeyFrom(digits: string): Buffer {
  return Buffer.from(digits.padEnd(64, "0"), "hex");
}
