/** Keys of leaves for tests of trees and indexes. */
import {createHash} from "node:crypto";

/** A key as uniformly distributed as real ones. */
export function hKeyOf(name: string | number): Buffer {
  return createHash("sha256").update(`key ${name}`).digest();
}

/** 32 bytes that begin with `digits`, followed by zeros. */
export function hKeyFrom(digits: string): Buffer {
  return Buffer.from(digits.padEnd(64, "0"), "hex");
}
