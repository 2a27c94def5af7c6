/** Keys of leaves for tests of trees and indexes. */
import {createHash} from "node:crypto";

/** As uniform as real ones. */
export function hKeyOf(name: string | number): Buffer {
  return createHash("sha256").update(`key ${name}`).digest();
}

/** 32 bytes that begin with `digits`, and are zero behind them. */
export function hKeyFrom(digits: string): Buffer {
  return Buffer.from(digits.padEnd(64, "0"), "hex");
}
